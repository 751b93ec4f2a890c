// What other servers answer, in a few words and in a sentence with what to do: by the enhanced status code (RFC 3463).

interface Meaning {
  short: string
  /** What it means, and what to do. */
  long: string
}

const MEANINGS: Readonly<Record<string, Meaning>> = {
  '1.1': { short: 'No such mailbox', long: 'Their server has no such mailbox. Check the spelling of the address.' },
  '1.2': { short: 'No such domain', long: 'The domain of the address receives no mail. Check its spelling.' },
  '1.10': { short: 'Takes no mail', long: 'The domain says in DNS that it takes no mail (a null MX record).' },
  '2.1': { short: 'Mailbox is disabled', long: 'Their mailbox exists and takes no mail now. Ask them another way.' },
  '2.2': { short: 'Mailbox full', long: 'Their mailbox has no room. Send it again later, or ask them another way.' },
  '2.3': {
    short: 'Message too large',
    long: 'Their mailbox takes no message of this size. Send a link instead of files.',
  },
  '3.4': {
    short: 'Message too large',
    long: 'Their server takes no message of this size. Send a link instead of files.',
  },
  '4.1': {
    short: 'No answer',
    long: 'Their server does not answer. Attempts go on for 48 hours after the message was accepted.',
  },
  '4.4': {
    short: 'No mail server',
    long: 'DNS names no mail server for the domain that exists. Check the spelling of the address.',
  },
  '4.7': { short: 'Expired', long: 'No attempt succeeded within 48 hours.' },
  '6.3': { short: 'Cannot be carried', long: 'Their server takes no message of this form.' },
  '6.7': {
    short: 'Cannot be carried',
    long: 'Their server takes no addresses or header fields beyond ASCII. Use an address without such letters.',
  },
  '7.0': {
    short: 'Refused by their policy',
    long: 'Their server refuses it by a rule of its own; its answer may name a page.',
  },
  '7.1': {
    short: 'Refused by their policy',
    long: 'Their server refuses it by a rule of its own; its answer may name a page.',
  },
  '7.26': {
    short: 'Refused: not authenticated',
    long: 'Their server wants SPF or DKIM to pass. Look at the records of your domain.',
  },
}

/** Of replies that are no refusal (RFC 5321 §4.2.1: 4yz). */
const TEMPORARY: Meaning = {
  short: 'Asked to come back later',
  long: 'Their server asks to come back later, as many do for a sender they do not know. Attempts go on for 48 hours.',
}

export const replies = { suppressed: 'Suppressed', temporary: TEMPORARY, meanings: MEANINGS }

/** The outcome that the log writes before the answer, such as `bounced: `. */
const OUTCOME = /^(\w+): /

/** The answer of the other server, without the outcome before it. */
export const answerOf = (reason: string) => reason.replace(OUTCOME, '')

/** The outcome that the log writes before the answer: `bounced`, `suppressed` … */
export const outcomeOf = (reason: string) => /^\w+/.exec(reason)?.[0] ?? ''

function meaningOf(reason: string): Meaning | undefined {
  const [, level, code] = /^(?:[45]\d\d[ -])?([45])\.(\d{1,3}\.\d{1,3})\b/.exec(answerOf(reason)) ?? []
  if (code === undefined) return undefined
  // The same code says less in a reply that is no refusal: 4.7.1 is greylisting, 5.7.1 a policy.
  return level === '4' && code.startsWith('7.') ? TEMPORARY : MEANINGS[code]
}

/** Whether an answer says that the mailbox does not exist. */
export const isNoMailbox = (reason: string | null) => reason !== null && meaningOf(reason) === MEANINGS['1.1']

/** "No such mailbox" of `bounced: 550 5.1.1 User unknown`. */
export function inShort(reason: string): string {
  return meaningOf(reason)?.short ?? (reason.startsWith('suppressed: ') ? replies.suppressed : answerOf(reason))
}

/** What the answer means and what to do; null for one without a known code. */
export const inWords = (reason: string): string | null => meaningOf(reason)?.long ?? null
