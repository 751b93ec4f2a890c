// Whether the DMARC policy of a domain can be tightened, by what known receivers report; few reports are no answer.

/** Days that are looked at, and those of them that must have reports. */
export const VERDICT_DAYS = 28
const REPORTED_DAYS_MIN = 21
const REPORTERS_MIN = 3
const MESSAGES_MIN = 100
const PASS_SHARE_MIN = 0.98
/** Days without a failure from an address of this server. */
export const OWN_CLEAN_DAYS = 14

export const DMARC_VERDICTS = ['safe', 'not_yet', 'too_little'] as const
export type DmarcVerdict = (typeof DMARC_VERDICTS)[number]

/** Counts of receivers that this server has delivered mail of the domain to. */
export interface VerdictFacts {
  /** With reports, of {@link VERDICT_DAYS}. */
  days: number
  reporters: number
  messages: number
  passed: number
  /** Messages from addresses of this server that failed within {@link OWN_CLEAN_DAYS}; null: its addresses are not known. */
  ownFailures: number | null
}

export interface DmarcAdvice {
  verdict: DmarcVerdict
  /** Sentences: what was seen, what fails, or what is missing. */
  reasons: string[]
}

export function dmarcAdvice(facts: VerdictFacts): DmarcAdvice {
  const { days, reporters, messages, passed } = facts
  const wrong = failures(facts)
  if (wrong.length > 0) return { verdict: 'not_yet', reasons: wrong }
  const few = shortages(facts)
  if (few.length > 0) return { verdict: 'too_little', reasons: few }
  const share = percent(passed / messages)
  const seen = `${share} % of ${messages} messages passed, by reports of ${reporters} known receivers on ${days} days.`
  return { verdict: 'safe', reasons: [seen] }
}

function failures({ messages, passed, ownFailures }: VerdictFacts): string[] {
  const own = `Messages of this server that failed in the last ${OWN_CLEAN_DAYS} days: ${ownFailures}.`
  // A share of few messages says nothing.
  const isShareLow = messages >= MESSAGES_MIN && passed / messages < PASS_SHARE_MIN
  const low = `${percent(passed / messages)} % of the messages passed; ${percent(PASS_SHARE_MIN)} % are needed.`
  return [...((ownFailures ?? 0) > 0 ? [own] : []), ...(isShareLow ? [low] : [])]
}

function shortages({ days, reporters, messages, ownFailures }: VerdictFacts): string[] {
  const few = (count: number, min: number, sentence: string) => (count < min ? [`${sentence}; ${min} are needed.`] : [])
  return [
    ...few(days, REPORTED_DAYS_MIN, `Days with reports: ${days} of ${VERDICT_DAYS}`),
    ...few(reporters, REPORTERS_MIN, `Known receivers with reports: ${reporters}`),
    ...few(messages, MESSAGES_MIN, `Reported messages: ${messages}`),
    ...(ownFailures === null
      ? ['DNS does not give the addresses of this server: its own failures cannot be told.']
      : []),
  ]
}

/** Rounded down: 97.99 is not 98. */
function percent(share: number): number {
  return Math.floor(share * 1000) / 10
}
