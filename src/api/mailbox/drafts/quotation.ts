// Quotations of messages in replies and forwards: made by the server, from clean content, so that nothing of the HTML of a stranger is
// repeated but its text, emphasis, lists and links.

import type { Context } from '../../../context.ts'
import { escapeHtml } from '../../../html/escape.ts'
import { domainOf } from '../../../mime/address.ts'
import type { Address } from '../../../mime/message.ts'
import { clean } from '../../../mime/one-line.ts'
import type { Account, MessageDetail } from '../../../store/rows/records.ts'
import { turnOwnerOf } from '../../rules/account.ts'

/** Characters of a quoted message; the rest is left out. */
export const QUOTED_CHARS_MAX = 200_000
const NAME_MAX = 100
const SUBJECT_MAX = 255
/** Recipients named in a forwarded message. */
const NAMED_MAX = 20
const CUT = '[…]'
const FORWARDED = '---------- Forwarded message ----------'

/** A quotation in both forms, without the text above it. */
export interface Quotation {
  text: string
  html: string
}

/** Whether the message is answered or forwarded. */
export type QuotationKind = 'reply' | 'forward'

/** @returns undefined when there is no such message */
export async function quotationOf(
  app: Context,
  account: Account,
  messageId: string,
  kind: QuotationKind,
): Promise<Quotation | undefined> {
  const message = app.store.read.messages.get(account, messageId)
  const bodies = message && (await app.store.read.messages.storedBodies(account, messageId))
  if (message === undefined || bodies === undefined) return undefined
  const task = { ...bodies, fromDomain: domainOf(message.from.email) }
  const options = { chars: QUOTED_CHARS_MAX, includeQuoted: true, includeSignature: true, links: 'inline' } as const
  const owner = turnOwnerOf(app, account)
  const text = await app.cleaner.clean({ ...task, options: { ...options, format: 'text' } }, owner)
  // The HTML shows the formatting of the sender, where there is any.
  const source = bodies.html === null ? task : { ...task, text: null }
  const markdown = { ...source, options: { ...options, format: 'markdown' as const }, isHtml: true }
  const html = await app.cleaner.clean(markdown, owner)
  return kind === 'reply'
    ? {
        text: `${wrote(message)}\n\n${quotedLines(text.content, text.truncated)}`,
        html:
          `<p>${escapeHtml(wrote(message))}</p>\n<blockquote type="cite">\n${html.content}` +
          `${html.truncated ? `<p>${CUT}</p>\n` : ''}</blockquote>\n`,
      }
    : {
        text: `${[FORWARDED, ...headLines(message)].join('\n')}\n\n${text.content}${text.truncated ? `\n${CUT}` : ''}\n`,
        html:
          `<p>${[FORWARDED, ...headLines(message)].map(escapeHtml).join('<br>\n')}</p>\n${html.content}` +
          `${html.truncated ? `<p>${CUT}</p>\n` : ''}`,
      }
}

/** The quotation below the user's plain text. */
export function belowText(text: string, quotation: Quotation): string {
  return `${text === '' ? '' : `${text.trimEnd()}\n\n`}${quotation.text}`
}

/** The quotation below the user's HTML, inside its body. */
export function belowHtml(html: string, { html: quoted }: Quotation): string {
  const end = /<\/body\s*>(?:\s|<\/html\s*>)*$/i.exec(html.slice(-200))
  const at = end === null ? html.length : html.length - Math.min(html.length, 200) + end.index
  return `${html.slice(0, at)}<div>\n${quoted}</div>\n${html.slice(at)}`
}

function wrote({ from, sentAt, receivedAt }: MessageDetail): string {
  return `On ${timeText(sentAt ?? receivedAt)}, ${nameOf(from)} wrote:`
}

function quotedLines(text: string, truncated: boolean): string {
  const lines = truncated ? [...text.split('\n'), CUT] : text.split('\n')
  return `${lines.map((line) => (line.startsWith('>') || line === '' ? `>${line}` : `> ${line}`)).join('\n')}\n`
}

function headLines({ from, to, cc, subject, sentAt, receivedAt }: MessageDetail): string[] {
  const people = (list: readonly Address[]) =>
    [...list.slice(0, NAMED_MAX).map(nameOf), ...(list.length > NAMED_MAX ? [CUT] : [])].join(', ')
  return [
    `From: ${nameOf(from)}`,
    `Date: ${timeText(sentAt ?? receivedAt)}`,
    `Subject: ${clean(subject, SUBJECT_MAX)}`,
    `To: ${people(to)}`,
    ...(cc.length === 0 ? [] : [`Cc: ${people(cc)}`]),
  ]
}

function nameOf({ name, email }: Address): string {
  const shown = clean(email, NAME_MAX)
  return name === '' ? shown : `${clean(name, NAME_MAX)} <${shown}>`
}

/** Such as "22 Nov 2026 at 11:35 UTC". */
function timeText(at: number): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return 'an unknown date'
  const [, day, month, year, time] = date.toUTCString().split(' ')
  return `${day} ${month} ${year} at ${time!.slice(0, 5)} UTC`
}
