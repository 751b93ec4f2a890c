// Reads bounces written as plain text, by servers that do not support RFC 3464 or in addition to it.

import { parseAddressList } from '../mime/address.ts'
import { decodeHeader } from '../mime/decode.ts'
import { type HeaderField, headerText } from '../mime/headers.ts'
import { findCodes, isGeneric } from './codes.ts'
import { oneLine } from './delivery-status.ts'
import { linesAbout, linesOfOne, type NamedRecipient, namedRecipients } from './notice-addresses.ts'
import { findPhrase, VAGUE } from './phrases.ts'
import type { ReplyStage } from './reply-class.ts'
import { DIAGNOSTIC_MAX, RECIPIENTS_MAX, type ReportedMessage, type ReportedRecipient } from './reported.ts'

/** Senders of such reports. */
const DAEMON =
  /mailer[-_. ]?daemon|mail[-_. ]?daemon|\bp(?:oo?)stmaster\b|mail[-_. ]?deliver(?:y|er)?[-_. ]?(?:sub)?[-_. ]?system|(?:system|mail|ndr) administrator|delivery (?:sub)?system/i
const SUBJECT =
  /undeliver|not (?:be )?delivered|deliver(?:y|ed)?\b.{0,20}\b(?:status|fail|notification|delay|problem|error|report)|mail deliver|failure notice|failed (?:mail|delivery)|returned (?:mail|message|to sender)|non[- ]?deliver|bounced? (?:mail|message)|mail (?:system )?(?:error|failure)|error sending|delayed (?:mail|\d+ hours)|(?:mail|message) .{0,60}\bdelayed|permanent (?:delivery )?failure|unzustellbar|nicht zugestellt|non remis|no (?:se )?(?:pudo|entregad)|недоставлен|не доставлено|送信|配信/i
/** Typical sentences of such reports. */
const LEAD =
  /(?:could not|couldn.t|cannot|can not|can.t|unable to|not able to|wasn.t able to|failed to|were unable to) (?:be )?(?:deliver|send)|(?:was|were|has|have) not (?:yet )?(?:been )?deliver|not reach(?:ed)? (?:some|the following)|undeliver|delivery (?:to|of|has|attempt|failed|failure)|permanent (?:fatal )?(?:delivery )?error|delivery errors|returned to you|error(?: has)? occurred while (?:attempting|trying) to deliver|error delivering your mail|did not reach|failed permanently|no pudo ser entregado|trouble delivering|rejected by a remote/i
const DELAYED =
  /\bdelay(?:ed)?\b|not yet been delivered|warning (?:message )?only|still being retried|will (?:be |keep )?re?tr(?:y|ied)/i
const FINAL = /failed permanently|permanent(?:ly)? (?:error|fail|fatal)|giving up|given up/i
/** Reports about more recipients are not searched for the text about each. */
const SEARCHED_MAX = 50
/** Characters at the start that are used to recognise a report. */
const LEAD_MAX = 4000

export interface Notice {
  fields: readonly HeaderField[]
  said: string
  original: ReportedMessage
  /** Envelope sender, where it is known. */
  mailFrom: string | null
}

/** True for a message that is a delivery report in plain text; false for auto-replies and messages of mailing lists. */
export function isNotice({ fields, said, mailFrom }: Notice): boolean {
  if (fields.some(({ name }) => name === 'x-failed-recipients')) return true
  if (fields.some(({ name }) => name === 'list-id' || name === 'list-unsubscribe')) return false
  const saysSo = LEAD.test(said.slice(0, LEAD_MAX))
  if (isSigned(fields)) return saysSo || SUBJECT.test(decodeHeader(headerText(fields, 'subject') ?? ''))
  const returnPath = mailFrom ?? headerText(fields, 'return-path')?.replace(/[<>\s]/g, '')
  // RFC 3834 3.3 and 5: auto-replies have the null sender too.
  return returnPath === '' && saysSo && !isAutomaticAnswer(fields)
}

/** True for auto-replies (RFC 3834 5, and fields of Exchange and others): they may name addresses and resemble a bounce. */
function isAutomaticAnswer(fields: readonly HeaderField[]): boolean {
  if (headerText(fields, 'auto-submitted')?.toLowerCase().startsWith('auto-replied')) return true
  if (headerText(fields, 'precedence')?.toLowerCase() === 'auto_reply') return true
  return fields.some(({ name }) => /^x-auto-?(?:reply|respond(?:er)?|response-suppress)$/.test(name))
}

/** True when the sender is a mail server. */
function isSigned(fields: readonly HeaderField[]): boolean {
  const from = headerText(fields, 'from') ?? ''
  return DAEMON.test(from) || /<\s*>\s*$/.test(from) || fields.some(({ name }) => name === 'x-failed-recipients')
}

/** For a report that names no recipient: the recipient of the original message when it had only one. */
export function lastResort(notice: Notice): ReportedRecipient[] {
  const { to } = notice.original
  return to.length === 1 && isSigned(notice.fields)
    ? describe(notice, [{ email: to[0]!, generatedFrom: null, beside: notice.said }])
    : []
}

/** The recipients the report names, with the text about each; empty when none was found. */
export function noticeRecipients(notice: Notice): ReportedRecipient[] {
  const found = describe(notice, findNamed(notice))
  // When the sender is not a mail server, a mentioned address alone is not a failed recipient.
  if (isSigned(notice.fields)) return found
  return found.filter(
    ({ smtpCode, status, diagnostic }) => smtpCode !== null || status !== null || hasKnownPhrase(diagnostic),
  )
}

function describe({ fields, said }: Notice, named: readonly NamedRecipient[]): ReportedRecipient[] {
  const subject = decodeHeader(headerText(fields, 'subject') ?? '')
  const lead = `${subject}\n${said.slice(0, LEAD_MAX)}`
  const action = DELAYED.test(lead) && !FINAL.test(lead) ? 'delayed' : 'failed'
  const all = named.map(({ email }) => email)
  return named.map(({ email, generatedFrom, beside }) => {
    const words = wordsAbout(said, { email, beside }, all)
    const { smtpCode, enhancedCode } = findCodes(words)
    return {
      finalRecipient: email,
      originalRecipient: generatedFrom,
      action,
      status: enhancedCode,
      smtpCode,
      diagnostic: diagnosticOf(words),
      stage: stageOf(named.length === 1 ? said : beside),
      remoteMta: null,
      lastAttemptAt: null,
    }
  })
}

/** Completes a recipient whose status fields give no reason, from the text of the report. */
export function withWords(
  recipient: ReportedRecipient,
  { said }: Notice,
  all: readonly ReportedRecipient[],
): ReportedRecipient {
  const { finalRecipient: email } = recipient
  const named = all.map(({ finalRecipient }) => finalRecipient)
  const stage = stageOf(named.length === 1 ? said : named.length <= SEARCHED_MAX ? linesAbout(said, email, named) : '')
  if (recipient.smtpCode !== null || findPhrase(recipient.diagnostic) !== null) return { ...recipient, stage }
  const words = wordsAbout(said, { email }, named)
  const { smtpCode, enhancedCode } = findCodes(words)
  if (smtpCode === null && enhancedCode === null && findPhrase(words) === null) return recipient
  const isVague = recipient.status === null || isGeneric(recipient.status)
  return {
    ...recipient,
    smtpCode,
    status: isVague ? (enhancedCode ?? recipient.status) : recipient.status,
    diagnostic: diagnosticOf(words),
    stage,
  }
}

/** @param all recipients of the report: with only one, the whole text is about it, but for lines that begin with another address */
function wordsAbout(said: string, named: { email: string; beside?: string }, all: readonly string[]): string {
  const choices = [named.beside ?? '']
  if (all.length <= SEARCHED_MAX) choices.push(linesAbout(said, named.email, all))
  if (all.length === 1) choices.push(linesOfOne(said, named.email))
  const quoted = choices.find((text) => {
    const { at, enhancedCode } = findCodes(text)
    return at >= 0 || enhancedCode !== null
  })
  return quoted ?? choices.find(hasKnownPhrase) ?? choices[0]!
}

/** The text from the quoted reply of the server on, or the first lines when no reply is quoted. */
function diagnosticOf(words: string): string {
  const { at } = findCodes(words)
  if (at < 0) return oneLine(words.trim().slice(0, DIAGNOSTIC_MAX * 2))
  const reply = oneLine(words.slice(at, at + DIAGNOSTIC_MAX * 2))
  if (namesCause(reply)) return reply
  // Some servers give the reason before the reply.
  const start = words.lastIndexOf('\n\n', at) + 1
  const paragraph = oneLine(words.slice(Math.max(start, at - DIAGNOSTIC_MAX), at + DIAGNOSTIC_MAX))
  return namesCause(paragraph) ? paragraph : reply
}

/** The SMTP command that was refused: Sendmail quotes the transcript, Postfix names the command, others vary. */
function stageOf(said: string): ReplyStage | null {
  if (/in reply to end of data|^>>> data\n<<< 5|after end of data|smtp command\ndata$/im.test(said)) return 'data'
  const isRecipient =
    /in reply to rcpt|^[ \t]{0,8}>>> rcpt|after rcpt|rcpt command|rcpt[ _]to(?: response|\])|to rcpt to/im
  return isRecipient.test(said) || /rejected recipient|does not like recipient/i.test(said) ? null : 'unknown'
}

function namesCause(text: string): boolean {
  const finding = findPhrase(text)
  return finding !== null && !VAGUE.has(finding)
}

function hasKnownPhrase(text: string): boolean {
  return findPhrase(text) !== null
}

function findNamed({ fields, said }: Notice): NamedRecipient[] {
  const failed = fields
    .filter(({ name }) => name === 'x-failed-recipients')
    .flatMap((field) => parseAddressList(headerText([field], field.name) ?? '', RECIPIENTS_MAX))
    .map(({ email }) => email)
    .filter((email) => email.includes('@'))
  const own = new Set(
    ['to', 'from', 'sender', 'reply-to', 'delivered-to'].flatMap((name) =>
      parseAddressList(headerText(fields, name) ?? '', 20).map(({ email }) => email.toLowerCase()),
    ),
  )
  const named = namedRecipients(said, own)
  if (failed.length === 0) return named
  const known = new Map(named.map((item) => [item.email.toLowerCase(), item]))
  return [...new Set(failed)]
    .slice(0, RECIPIENTS_MAX)
    .map((email) => known.get(email.toLowerCase()) ?? { email, generatedFrom: null, beside: '' })
}
