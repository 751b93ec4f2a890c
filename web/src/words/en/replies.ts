// What other servers answer, in a few words: by the enhanced status code (RFC 3463), else the answer itself.

const IN_WORDS: Readonly<Record<string, string>> = {
  '1.1': 'No such mailbox',
  '1.2': 'No such domain',
  '1.10': 'Takes no mail',
  '2.1': 'Mailbox is disabled',
  '2.2': 'Mailbox full',
  '2.3': 'Message too large',
  '3.4': 'Message too large',
  '4.1': 'Their server does not answer',
  '4.7': 'Given up: it waited too long',
  '7.1': 'Refused by their policy',
  '7.26': 'Refused: not authenticated',
}

/** The outcome that the log writes before the answer, such as `bounced: `. */
const OUTCOME = /^(\w+): /

/** The answer of the other server, without the outcome before it. */
export const answerOf = (reason: string) => reason.replace(OUTCOME, '')

/** Whether an answer says that the mailbox does not exist. */
export const isNoMailbox = (reason: string | null) => reason !== null && inShort(reason) === IN_WORDS['1.1']

/** "No such mailbox" of `bounced: 550 5.1.1 User unknown`. */
export function inShort(reason: string): string {
  const answer = answerOf(reason)
  const [, code] = /^(?:[45]\d\d[ -])?[45]\.(\d{1,3}\.\d{1,3})\b/.exec(answer) ?? []
  if (code !== undefined && code in IN_WORDS) return IN_WORDS[code]!
  return reason.startsWith('suppressed: ') ? 'Suppressed' : answer
}
