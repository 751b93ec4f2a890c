// Text of strangers on every page: what cannot be seen gets a mark, and what looks like another name says so.

import { options, type VNode } from 'preact'
import { type ForeignPart, legible, partsOf } from '../base/foreign-text.ts'
import { foreign as words } from '../words/en/foreign.ts'

/** More hidden characters in a row are counted. */
const MOST_NAMED = 2
/** Attributes that people see or hear. */
const SPOKEN = ['aria-label', 'title', 'placeholder', 'alt'] as const
/** Elements whose content is text alone: no mark has room in them. */
const BARE = new Set(['option', 'title', 'text', 'textarea'])
const MARK = 'foreign-mark'

type Props = Record<string, unknown>

/** An address or a text of strangers: its direction does not leak into the page. */
export function Foreign({ children }: { children: string }) {
  return <bdi>{children}</bdi>
}

/**
 * Has every text of every page marked, whichever component shows it: no page can forget it. Preact calls `options.vnode` for each element
 * that is made.
 */
export function markForeignText(): void {
  const next = options.vnode
  options.vnode = (vnode: VNode) => {
    if (typeof vnode.type === 'string' && (vnode.props as Props).class !== MARK)
      markTexts(vnode.type, vnode.props as Props)
    next?.(vnode)
  }
}

function markTexts(element: string, props: Props): void {
  for (const name of SPOKEN) {
    const text = props[name]
    if (typeof text === 'string') props[name] = legible(text)
  }
  if (props.children !== undefined) props.children = marked(props.children, BARE.has(element))
}

function marked(child: unknown, isBare: boolean): unknown {
  if (Array.isArray(child)) return child.map((one) => marked(one, isBare))
  if (typeof child !== 'string') return child
  if (isBare) return legible(child)
  const parts = partsOf(child)
  return parts.every(({ kind }) => kind === 'text') ? child : <Marked parts={parts} />
}

function Marked({ parts }: { parts: readonly ForeignPart[] }) {
  return (
    <bdi>
      {parts.map((part, index) => (
        <Piece key={index} part={part} />
      ))}
    </bdi>
  )
}

function Piece({ part }: { part: ForeignPart }) {
  if (part.kind === 'text') return <>{part.text}</>
  if (part.kind === 'domain') return <Mark text={part.text} note={words.domain(part.original)} />
  if (part.kind === 'mixed') return <Mark text={part.text} sign={words.mixed} note={words.mixedNote} />
  const { codes } = part
  if (codes.length > MOST_NAMED) return <Mark text="" sign={words.hidden(codes.length)} note={words.hiddenNote} />
  return codes.map((code, index) => (
    <Mark key={index} text="" sign={`U+${code}`} note={words.names[code] ?? words.control} />
  ))
}

/** @param sign what is said of the text, in a box behind it */
function Mark({ text, sign, note }: { text: string; sign?: string; note: string }) {
  return (
    <span class={MARK} title={note}>
      {text}
      {sign !== undefined && <span class="foreign-sign">{sign}</span>}
    </span>
  )
}
