// What people do in the console, in order of the files in stories/.

import { addressStories } from './stories/addresses.ts'
import { agentStories } from './stories/agents.ts'
import { domainStories } from './stories/domains.ts'
import { firstRunStories } from './stories/first-run.ts'
import { operatorStories } from './stories/operator.ts'
import { outsideStories } from './stories/outside.ts'
import { signInStories } from './stories/sign-in.ts'
import { teamPageStories } from './stories/team-pages.ts'
import type { Story } from './story.ts'

export const STORIES: readonly Story[] = [
  ...firstRunStories,
  ...signInStories,
  ...operatorStories,
  ...domainStories,
  ...addressStories,
  ...outsideStories,
  ...teamPageStories,
  ...agentStories,
]
