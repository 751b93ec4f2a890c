// SMTP replies shared by all SMTP listeners, with their codes (RFC 5321 §4.2, RFC 3463).

/** A reply code, an enhanced status code ("" for none) and a text. */
export interface SmtpReply {
  code: number
  enhanced: string
  text: string
}

export const reply = (code: number, enhanced: string, text: string): SmtpReply => ({ code, enhanced, text })

/** Replies of the protocol; refusals of recipients and messages are in inbound/refusals.ts. */
export const replies = {
  sender: reply(250, '2.1.0', 'Sender ok'),
  recipient: reply(250, '2.1.5', 'Recipient ok'),
  content: reply(354, '', 'End data with <CR><LF>.<CR><LF>'),
  queued: (id: string) => reply(250, '2.0.0', `Ok: queued as ${id}`),
  senderFirst: reply(503, '5.5.1', 'Send MAIL first'),
  recipientFirst: reply(503, '5.5.1', 'Send RCPT first'),
  senderTwice: reply(503, '5.5.1', 'Nested MAIL command: a sender was given already'),
  noArguments: reply(501, '5.5.4', 'DATA takes no arguments'),
  badSender: reply(501, '5.1.7', 'The sender address is not valid'),
  badRecipient: reply(501, '5.1.3', 'The recipient address is not valid'),
  badParameter: reply(501, '5.5.4', 'A parameter is not valid'),
  unknownParameter: reply(555, '5.5.4', 'A parameter is not supported'),
  needsUtf8: reply(553, '5.6.7', 'A non-ASCII address requires SMTPUTF8'),
  badBytes: reply(500, '5.5.2', 'Commands must be lines of text that end in CRLF'),
  lineTooLong: reply(500, '5.5.2', 'The line is too long'),
  notAscii: reply(501, '5.5.2', 'Only addresses may contain non-ASCII characters'),
  tooManyErrors: reply(421, '4.7.0', 'Too many errors'),
  tooSlow: reply(421, '4.4.2', 'Timeout, closing connection'),
  closing: reply(421, '4.3.2', 'Service shutting down'),
  tooManyHere: reply(421, '4.7.0', 'Too many connections from your address'),
  tooMany: reply(421, '4.3.2', 'Too many connections'),
  blocked: reply(421, '4.7.0', 'Too many refused commands and messages from your address, try again later'),
  tooLarge: (maxBytes: number) => reply(552, '5.3.4', `A message may have at most ${maxBytes} bytes`),
  badProxy: reply(421, '4.7.0', 'A valid PROXY header was expected'),
} as const

/** The reply line without its CRLF. */
export function line({ code, enhanced, text }: SmtpReply): string {
  return enhanced === '' ? `${code} ${text}` : `${code} ${enhanced} ${text}`
}
