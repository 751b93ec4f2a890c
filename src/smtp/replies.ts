// Replies of the SMTP engine, with their codes: those every SMTP listener of ours has in common.

import { MAX_MAIL_BYTES } from './limits.ts'

/** Codes of RFC 5321 4.2 and RFC 3463 and one English sentence. */
export interface Reply {
  code: number
  enhanced: string
  text: string
}

export const reply = (code: number, enhanced: string, text: string): Reply => ({ code, enhanced, text })

/** Replies that keep the dialogue going or end it. */
export const replies = {
  sender: reply(250, '2.1.0', 'Sender ok'),
  recipient: reply(250, '2.1.5', 'Recipient ok'),
  content: reply(354, '', 'End data with <CR><LF>.<CR><LF>'),
  queued: (id: string) => reply(250, '2.0.0', `Ok: queued as ${id}`),
  senderFirst: reply(503, '5.5.1', 'Send MAIL first'),
  recipientFirst: reply(503, '5.5.1', 'Send RCPT first'),
  senderTwice: reply(503, '5.5.1', 'A sender was given already'),
  noArguments: reply(501, '5.5.4', 'DATA takes no arguments'),
  badSender: reply(501, '5.1.7', 'The sender address is not valid'),
  badRecipient: reply(501, '5.1.3', 'The recipient address is not valid'),
  badParameter: reply(501, '5.5.4', 'A parameter is not valid'),
  unknownParameter: reply(555, '5.5.4', 'A parameter is not supported'),
  needsUtf8: reply(553, '5.6.7', 'An address beyond ASCII needs SMTPUTF8'),
  badBytes: reply(500, '5.5.2', 'Commands are lines of text that end in CRLF'),
  lineTooLong: reply(500, '5.5.2', 'The line is too long'),
  notAscii: reply(501, '5.5.2', 'Only addresses may be beyond ASCII'),
  tooManyErrors: reply(421, '4.7.0', 'Too many errors'),
  tooSlow: reply(421, '4.4.2', 'Nothing came in time'),
  closing: reply(421, '4.3.2', 'The service is closing'),
  tooManyHere: reply(421, '4.7.0', 'Too many connections from your address'),
  tooMany: reply(421, '4.3.2', 'Too many connections'),
  blocked: reply(421, '4.7.0', 'Too much from your address was refused, try again later'),
  tooLarge: reply(552, '5.3.4', `A mail may have at most ${MAX_MAIL_BYTES} bytes`),
  badProxy: reply(421, '4.7.0', 'A valid PROXY header was expected'),
} as const

/** The line without its CRLF. */
export function line({ code, enhanced, text }: Reply): string {
  return enhanced === '' ? `${code} ${text}` : `${code} ${enhanced} ${text}`
}
