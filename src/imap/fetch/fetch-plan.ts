// What a FETCH needs of each message, and whether it sets \Seen (RFC 9051 §6.4.5).

import { FieldFinder, KEPT_FIELDS } from '../../mime/message-headers.ts'
import type { FetchItem, PlainItem } from '../grammar/fetch-items.ts'
import type { BodySection } from '../grammar/sections.ts'
import type { ContentNeeds } from './message-content.ts'

const ROW_ITEMS = new Set<PlainItem>(['EMAILID', 'THREADID', 'PREVIEW'])
const STRUCTURE_ITEMS = new Set<PlainItem>(['BODY', 'BODYSTRUCTURE'])

/** The items of RFC822, as sections: they are echoed by their old names. */
const OLD_ITEMS = new Map<PlainItem, { section: BodySection; isPeek: boolean }>([
  ['RFC822', { section: { part: [], text: 'all', fields: [] }, isPeek: false }],
  ['RFC822.HEADER', { section: { part: [], text: 'header', fields: [] }, isPeek: true }],
  ['RFC822.TEXT', { section: { part: [], text: 'text', fields: [] }, isPeek: false }],
])

/** The section of RFC822, RFC822.HEADER or RFC822.TEXT; undefined for other items. */
export function oldSection(name: PlainItem): BodySection | undefined {
  return OLD_ITEMS.get(name)?.section
}

/** Whether a section is served from the kept header fields. */
export function isKeptSection({ part, text, fields }: BodySection): boolean {
  return part.length === 0 && text === 'fields' && fields.every((name) => KEPT_FIELDS.has(name.toLowerCase()))
}

export interface FetchPlan {
  items: readonly FetchItem[]
  /** How sections of kept header fields are found, by item. */
  finders: ReadonlyMap<FetchItem, FieldFinder>
  needs: ContentNeeds
  setsSeen: boolean
}

/** @param extra items that the session adds: UID of UID FETCH, MODSEQ of CONDSTORE */
export function planFetch(items: readonly FetchItem[], extra: readonly PlainItem[]): FetchPlan {
  const distinct = withoutRepetitions(items)
  const named = new Set(distinct.flatMap((item) => (item.kind === 'plain' ? [item.name] : [])))
  const added = extra.filter((name) => !named.has(name)).map((name): FetchItem => ({ kind: 'plain', name }))
  const all = [...added.filter(isUid), ...distinct, ...added.filter((item) => !isUid(item))]
  const setsSeen = all.some(readsText)
  const plain = all.flatMap((item) => (item.kind === 'plain' ? [item.name] : []))
  return {
    items: all,
    finders: findersOf(all),
    setsSeen,
    needs: {
      rows: plain.some((name) => ROW_ITEMS.has(name)),
      labels: setsSeen || plain.includes('FLAGS'),
      headers: plain.includes('ENVELOPE') || all.some((item) => item.kind === 'body' && isKeptSection(item.section)),
      structure: all.some(needsStructure),
    },
  }
}

/**
 * An item that is named several times is answered once: RFC 9051 §6.4.5 asks for the data of a message, and a response is the same with
 * and without its repetitions. The names of fields count as written, because the response names them so.
 */
function withoutRepetitions(items: readonly FetchItem[]): FetchItem[] {
  const byName = new Map<string, FetchItem>()
  for (const item of items) {
    // A section is the same with and without PEEK, which only decides \Seen.
    const { isPeek, ...asked } = 'isPeek' in item ? item : { ...item, isPeek: true }
    const name = JSON.stringify(asked)
    const known = byName.get(name)
    if (known === undefined || ('isPeek' in known && known.isPeek && !isPeek)) byName.set(name, item)
  }
  return [...byName.values()]
}

function isUid(item: FetchItem): boolean {
  return item.kind === 'plain' && item.name === 'UID'
}

function readsText(item: FetchItem): boolean {
  if (item.kind === 'plain') return OLD_ITEMS.get(item.name)?.isPeek === false
  return (item.kind === 'body' || item.kind === 'binary') && !item.isPeek
}

function needsStructure(item: FetchItem): boolean {
  if (item.kind === 'plain') return STRUCTURE_ITEMS.has(item.name) || OLD_ITEMS.has(item.name)
  return item.kind !== 'body' || !isKeptSection(item.section)
}

function findersOf(items: readonly FetchItem[]): Map<FetchItem, FieldFinder> {
  const finders = new Map<FetchItem, FieldFinder>()
  for (const item of items) {
    if (item.kind !== 'body' || !isKeptSection(item.section)) continue
    finders.set(item, new FieldFinder(item.section.fields.map((name) => name.toLowerCase())))
  }
  return finders
}
