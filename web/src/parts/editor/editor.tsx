// The editor of messages: Squire in a field of the page. Every HTML that comes into it passes DOMPurify.

import DOMPurify from 'dompurify'
import { useLayoutEffect, useRef } from 'preact/hooks'
import Squire from 'squire-rte'
import { compose as words } from '../../words/en/compose.ts'
import { IconButton } from '../button.tsx'

/** What a person can write: text, emphasis, lists, links and quotations. No pictures, styles or colors of strangers. */
const ALLOWED = {
  ALLOWED_TAGS: [
    'a',
    'b',
    'blockquote',
    'br',
    'code',
    'div',
    'em',
    'i',
    'li',
    'ol',
    'p',
    'pre',
    's',
    'strong',
    'u',
    'ul',
  ],
  ALLOWED_ATTR: ['href', 'dir'],
}

/** Squire writes HTML of its own while it undoes and pastes: under Trusted Types, the policy of this name makes it. */
function makeDefaultPolicy(): void {
  const factory = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes
  if (factory === undefined || factory.defaultPolicy !== null) return
  factory.createPolicy('default', { createHTML: (html) => DOMPurify.sanitize(html, ALLOWED) })
}

interface TrustedTypes {
  defaultPolicy: unknown
  createPolicy(name: string, rules: { createHTML(html: string): string }): unknown
}

const fragmentOf = (html: string) =>
  document.importNode(DOMPurify.sanitize(html, { ...ALLOWED, RETURN_DOM_FRAGMENT: true }), true)

export interface EditorHandle {
  html(): string
  text(): string
  focus(): void
}

interface EditorProps {
  /** What it begins with. */
  html: string
  hasFocus: boolean
  onChange: () => void
  onReady: (editor: EditorHandle) => void
}

export function Editor({ html, hasFocus, onChange, onReady }: EditorProps) {
  const box = useRef<HTMLDivElement>(null)
  const editor = useRef<Squire | null>(null)
  useLayoutEffect(() => {
    makeDefaultPolicy()
    const element = box.current!
    const squire = new Squire(element, { blockTag: 'DIV', sanitizeToDOMFragment: fragmentOf, addLinks: true })
    editor.current = squire
    squire.setHTML(html)
    squire.moveCursorToStart()
    squire.addEventListener('input', onChange)
    onReady({ html: () => squire.getHTML(), text: () => element.innerText, focus: () => squire.focus() })
    if (hasFocus) squire.focus()
    return () => squire.destroy()
  }, [])
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a text area holds plain text alone */}
      <div
        ref={box}
        class="editor"
        role="textbox"
        tabIndex={0}
        aria-multiline="true"
        aria-label={words.text}
        dir="auto"
      />
      <FormatBar editor={() => editor.current} />
    </>
  )
}

function FormatBar({ editor }: { editor: () => Squire | null }) {
  const toggle = (tag: string, on: (squire: Squire) => void, off: (squire: Squire) => void) => () => {
    const squire = editor()
    if (squire === null) return
    if (squire.hasFormat(tag)) off(squire)
    else on(squire)
    squire.focus()
  }
  return (
    <div class="format-bar" role="toolbar" aria-label={words.format}>
      <IconButton
        icon="bold"
        label={words.bold}
        onPress={toggle(
          'B',
          (one) => one.bold(),
          (one) => one.removeBold(),
        )}
      />
      <IconButton
        icon="italic"
        label={words.italic}
        onPress={toggle(
          'I',
          (one) => one.italic(),
          (one) => one.removeItalic(),
        )}
      />
      <IconButton
        icon="list"
        label={words.bullets}
        onPress={toggle(
          'UL',
          (one) => one.makeUnorderedList(),
          (one) => one.removeList(),
        )}
      />
      <IconButton
        icon="list-ordered"
        label={words.numbers}
        onPress={toggle(
          'OL',
          (one) => one.makeOrderedList(),
          (one) => one.removeList(),
        )}
      />
      <IconButton
        icon="quote"
        label={words.quote}
        onPress={toggle(
          'BLOCKQUOTE',
          (one) => one.increaseQuoteLevel(),
          (one) => one.decreaseQuoteLevel(),
        )}
      />
    </div>
  )
}
