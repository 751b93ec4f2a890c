// Finds sign-in, confirmation, reset and invitation links in the own text of a message. Nothing is fetched: that would use a link up.

import { CODE_MAIL_SIGNS } from './code-words.ts'
import { ACTS, type LinkKind, OTHER_LINKS } from './link-words.ts'
import { type OwnLine, type OwnLink, shownSentence, type TextPosition } from './own-line.ts'

export interface FoundLink extends TextPosition {
  kind: LinkKind
  /** The URL. */
  value: string
  confidence: 'high' | 'low'
  /** The host it leads to. */
  host: string
  /** The words of the link name another host. */
  isOtherHost: boolean
}

/** Links that are examined in one message. */
const EXAMINED_MAX = 60
/** Lines with text before a link that may name its act. */
const LABEL_LINES = 2
const HIGH = 4
/** "Sign in" comes last: texts about the other acts mention it. */
const ORDER: readonly LinkKind[] = ['reset', 'confirm', 'invite', 'sign_in']

/** @param lines the subject first, then the own lines that have text. Linear in them, never throws. */
export function findLinks(lines: readonly OwnLine[]): FoundLink[] {
  const all = lines.flatMap(({ links }, line) => links.map((link) => ({ link, line }))).slice(0, EXAMINED_MAX)
  const secret = all.filter(({ link }) => hasSecret(link.url))
  if (secret.length === 0) return []
  const whole = lines.map(({ text }) => text).join('\n')
  const signs = CODE_MAIL_SIGNS.slice(0, 3).filter((sign) => sign.test(whole)).length
  const found = new Map<string, FoundLink>()
  for (const { link, line } of secret) {
    const act = actOf(link, line, lines)
    const target = URL.parse(link.url)
    if (act === null || target === null || found.has(link.url)) continue
    const points = act.points + Math.min(signs, 2)
    const position = { part: 'text', line, sentence: shownSentence(lines[line]!.text, link.start) } as const
    const facts = { host: target.hostname, isOtherHost: namesOtherHost(link, target.hostname) }
    found.set(link.url, {
      ...{ kind: act.kind, value: link.url, confidence: points >= HIGH ? 'high' : 'low' },
      ...position,
      ...facts,
    })
  }
  return [...found.values()]
}

/** Words of the link itself weigh more than those around it. */
function actOf(link: OwnLink, line: number, lines: readonly OwnLine[]): { kind: LinkKind; points: number } | null {
  const isBare = link.text.includes('://') || !/\p{L}/u.test(link.text)
  if (!isBare) {
    const kind = kindOf(link.text)
    // "Sign in" alone may lead to anything, such as an invoice.
    if ((kind === null || kind === 'sign_in') && OTHER_LINKS.test(link.text)) return null
    if (kind !== null) return { kind, points: kind === 'sign_in' ? 2 : 4 }
  }
  const own = lines[line]!.text
  const around = own.slice(0, link.start)
  const labels = /\p{L}/u.test(around)
    ? [around]
    : lines.slice(Math.max(0, line - LABEL_LINES), line).map(({ text }) => text)
  for (const label of labels.toReversed()) {
    const last = label.split(/(?<=[.!?])\s|[。！？]/).findLast((part) => /\p{L}/u.test(part)) ?? ''
    const kind = kindOf(last) ?? (isBare ? null : kindOf(label))
    if (OTHER_LINKS.test(last) && kind === null) return null
    if (kind !== null) return { kind, points: isBare && kind !== 'sign_in' ? 4 : 2 }
  }
  return null
}

function kindOf(text: string): LinkKind | null {
  return ORDER.find((kind) => ACTS[kind].test(text)) ?? null
}

/** Whether a part of the URL cannot be guessed: letters and digits in no order that words have. */
function hasSecret(url: string): boolean {
  if (!/^https:\/\//i.test(url)) return false
  const behindHost = url.replace(/^https:\/\/[^/?#]*/i, '')
  const runs = behindHost.match(/[A-Za-z0-9_~.-]{16,}/g) ?? []
  return runs.some((run) => {
    const digits = run.replace(/\D/g, '').length
    const isHex = /[0-9a-f]{16}/i.test(run.replace(/-/g, '')) && /[a-f]/i.test(run)
    const longest = Math.max(...run.split(/[-.~_]/).map((part) => part.length))
    const changes = run.match(/[a-z](?=[A-Z0-9])|[0-9](?=[A-Za-z])|[A-Z](?=[a-z0-9])/g)?.length ?? 0
    return (isHex && digits >= 3) || (digits >= 1 && longest >= 10 && changes >= 5)
  })
}

function namesOtherHost({ text }: OwnLink, host: string): boolean {
  const named = /(?:https?:\/\/)?((?:[\p{L}\p{N}-]+\.)+\p{L}{2,})/iu.exec(text)?.[1]
  return named !== undefined && named.toLowerCase() !== host
}
