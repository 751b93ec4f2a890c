// What people do in the console, in order of the files in stories/.

import { addressStories } from './stories/addresses.ts'
import { domainStories } from './stories/domains.ts'
import { firstRunStories } from './stories/first-run.ts'
import { signInStories } from './stories/sign-in.ts'
import type { Story } from './story.ts'

export const STORIES: readonly Story[] = [...firstRunStories, ...signInStories, ...domainStories, ...addressStories]
