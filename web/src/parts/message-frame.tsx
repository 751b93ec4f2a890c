// The document of a stranger in a frame without scripts, as high as its content; its links and keys are heard by the page around it.

import { useEffect, useRef } from 'preact/hooks'

/** Never `allow-scripts`: together with `allow-same-origin` it would undo both. */
const SANDBOX = 'allow-same-origin allow-popups allow-popups-to-escape-sandbox'
/** A document that grows with its frame ends here, and scrolls inside. */
const MOST_PX = 30_000
const MOST_CHANGES = 20

interface MessageFrameProps {
  src: string
  title: string
  /** It has no colors of its own: it stands on the page like any text. */
  isPlain: boolean
  /** @param n the number of the link in the facts of the document @returns whether it is followed */
  onLink: (n: number) => boolean
}

export function MessageFrame({ src, title, isPlain, onLink }: MessageFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null)
  const stop = useRef<() => void>(() => {})
  const latest = useRef(onLink)
  latest.current = onLink
  useEffect(() => () => stop.current(), [])
  return (
    <iframe
      ref={frame}
      key={src}
      class={`message-frame ${isPlain ? 'plain' : ''}`}
      src={src}
      title={title}
      sandbox={SANDBOX}
      referrerpolicy="no-referrer"
      onLoad={(event) => {
        stop.current()
        stop.current = follow(event.currentTarget, (n) => latest.current(n))
      }}
    />
  )
}

/** Follows the height, the links and the keys of a loaded document. @returns ends it */
function follow(frame: HTMLIFrameElement, onLink: (n: number) => boolean): () => void {
  const content = frame.contentDocument
  if (content?.body == null) return () => {}
  let changes = 0
  let width = 0
  const fit = () => {
    if (frame.clientWidth !== width) changes = 0
    width = frame.clientWidth
    if (++changes > MOST_CHANGES) return
    frame.style.height = `${Math.min(MOST_PX, Math.ceil(content.documentElement.getBoundingClientRect().height))}px`
  }
  const observer = new ResizeObserver(fit)
  observer.observe(content.documentElement)
  fit()
  content.addEventListener('click', (event) => {
    // Elements of a frame are of its own realm: they are no `Element` of this page.
    const link = (event.target as Element | null)?.closest?.('a[data-link]')
    const n = Number(link?.getAttribute('data-link') ?? Number.NaN)
    if (!Number.isNaN(n) && !onLink(n)) event.preventDefault()
  })
  content.addEventListener('keydown', ({ key, code, ctrlKey, shiftKey, metaKey, altKey, repeat }) => {
    const copy = { key, code, ctrlKey, shiftKey, metaKey, altKey, repeat, bubbles: true, cancelable: true }
    frame.dispatchEvent(new KeyboardEvent('keydown', copy))
  })
  return () => observer.disconnect()
}
