// What people do in the console, in order of the files in stories/.

import { some } from '../support/amount.ts'
import { addressStories } from './stories/addresses.ts'
import { agentStories } from './stories/agents.ts'
import { domainStories } from './stories/domains.ts'
import { firstRunStories } from './stories/first-run.ts'
import { frameStories } from './stories/frame.ts'
import { heldStories } from './stories/held.ts'
import { interruptionStories } from './stories/interruptions.ts'
import { languageStories } from './stories/languages.ts'
import { listStories } from './stories/lists.ts'
import { mailOrderStories } from './stories/mail-order.ts'
import { mailReadingStories } from './stories/mail-reading.ts'
import { mailWritingStories } from './stories/mail-writing.ts'
import { measureStories } from './stories/measures.ts'
import { operatorStories } from './stories/operator.ts'
import { operatorUserStories } from './stories/operator-users.ts'
import { outsideStories } from './stories/outside.ts'
import { ownMailboxStories } from './stories/own-mailbox.ts'
import { peopleStories } from './stories/people.ts'
import { scriptFreeStories } from './stories/script-free.ts'
import { signInStories } from './stories/sign-in.ts'
import { teamPageStories } from './stories/team-pages.ts'
import { trafficStories } from './stories/traffic.ts'
import type { Story } from './story.ts'

const ALL: readonly Story[] = [
  ...frameStories,
  ...interruptionStories,
  ...languageStories,
  ...listStories,
  ...measureStories,
  ...firstRunStories,
  ...signInStories,
  ...operatorStories,
  ...operatorUserStories,
  ...domainStories,
  ...addressStories,
  ...peopleStories,
  ...ownMailboxStories,
  ...outsideStories,
  ...teamPageStories,
  ...agentStories,
  ...heldStories,
  ...trafficStories,
  ...scriptFreeStories,
  ...mailReadingStories,
  ...mailWritingStories,
  ...mailOrderStories,
]

/** By default those that the first days with the product need, and some of the others: the rest takes five minutes of two processors. */
const FIRST_DAYS: readonly Story[] = [
  ...firstRunStories,
  ...signInStories.slice(0, 2),
  ...domainStories.slice(0, 2),
  ...mailReadingStories.slice(0, 2),
  ...mailWritingStories.slice(0, 2),
]
const OTHERS = 6

export const STORIES = ALL.filter((story) => FIRST_DAYS.includes(story) || some(ALL, OTHERS).includes(story))
