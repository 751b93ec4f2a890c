// Which queries depend on what changed in a team; they are asked again together, not more often than every few seconds.

import { refresh } from './query.ts'

/** Names of queries, the second part of their keys, by the kind of record that changed. */
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  domains: ['domains', 'needs', 'first-steps', 'usage'],
  providers: ['providers', 'sending', 'groups', 'routing-rules', 'shared-limit', 'needs', 'usage'],
  delivery: ['first-steps', 'delivery', 'sent', 'failures', 'metrics', 'timeseries', 'breakdown', 'account-usage'],
  inbound: ['first-steps', 'inbound', 'metrics', 'timeseries', 'breakdown', 'mailboxes'],
  webhooks: ['webhooks', 'needs', 'first-steps', 'usage'],
  members: ['people', 'grants', 'mailboxes', 'first-steps', 'usage'],
  mailboxes: ['mailboxes', 'aliases', 'forwards', 'first-steps', 'usage'],
  keys: ['keys', 'usage'],
  suppressions: ['suppressed'],
  agents: [],
  billing: ['billing'],
  audit: ['audit'],
}
/** Between two rounds: a busy team changes all the time. */
const GAP_MS = 2000

const waiting = new Map<string, Set<string>>()
let timer: ReturnType<typeof setTimeout> | undefined
let lastRound = 0

/** Notes what changed. A tab that is not seen waits until it is. */
export function refreshChanged(actor: string, changed: readonly string[]): void {
  const names = waiting.get(actor) ?? new Set<string>()
  for (const name of changed) names.add(name)
  waiting.set(actor, names)
  schedule()
}

function schedule(): void {
  if (timer !== undefined || document.visibilityState === 'hidden') return
  timer = setTimeout(round, Math.max(0, lastRound + GAP_MS - Date.now()))
}

function round(): void {
  timer = undefined
  lastRound = Date.now()
  for (const [actor, names] of waiting) {
    const known = [...names].map((name) => QUERIES[name])
    if (known.includes(undefined)) refresh(actor)
    else for (const query of new Set(known.flatMap((list) => list ?? []))) refresh(actor, query)
    if (names.has('agents')) refresh('agents')
    // Messages of programs that wait, in whichever team.
    if (names.has('delivery')) refresh('held')
  }
  waiting.clear()
}

document.addEventListener('visibilitychange', () => {
  if (waiting.size > 0) schedule()
})
