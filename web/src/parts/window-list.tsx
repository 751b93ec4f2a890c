// A list of any length in which only the rows near the window exist: fixed heights, a true scroll bar, one tab stop.

import type { ComponentChildren, TargetedKeyboardEvent } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Browsers do not scroll further than some 17 million pixels; above this the scroll bar is scaled. */
const MOST_PX = 15_000_000
/** Rows above and below the window. */
const SPARE = 6

interface WindowListProps {
  label: string
  /** Rows in the list. */
  count: number
  rowHeight: number
  /** The row that the keys are at; -1 for none. It stays in the page while others come and go. */
  active: number
  /** Names what is at a place, to stay there when rows come or go above. */
  keyAt: (index: number) => string | undefined
  indexOf: (key: string) => number
  /** Told which places are near the window. */
  onShow: (first: number, last: number) => void
  onFocus?: () => void
  onKeyDown?: (event: TargetedKeyboardEvent<HTMLDivElement>) => void
  row: (index: number, id: string) => ComponentChildren
  /** Over the rows, outside of the list box; told where a row begins in the window. */
  overlay?: (windowTop: (index: number) => number) => ComponentChildren
  /** The id of the element of the active row. */
  idPrefix: string
}

/** Where the rows are, for a place of the scroll bar. */
function geometry(count: number, rowHeight: number, scrollTop: number, height: number) {
  const whole = count * rowHeight
  const shown = Math.min(whole, MOST_PX)
  const room = Math.max(1, shown - height)
  const offset = whole === shown ? scrollTop : (Math.min(scrollTop, room) / room) * Math.max(0, whole - height)
  const first = Math.max(0, Math.floor(offset / rowHeight) - SPARE)
  const last = Math.min(count - 1, Math.ceil((offset + height) / rowHeight) + SPARE)
  return { shown, room, whole, first, last, topOf: (index: number) => scrollTop + index * rowHeight - offset }
}

export function WindowList(props: WindowListProps) {
  const { label, count, rowHeight, active, row, overlay, idPrefix } = props
  const box = useRef<HTMLDivElement>(null)
  const [{ scrollTop, height }, setPlace] = useState({ scrollTop: 0, height: 0 })
  const { shown, first, last, topOf } = geometry(count, rowHeight, scrollTop, height)
  useSize(box, (size) => setPlace((place) => ({ ...place, height: size })))
  useAnchor(box, props, scrollTop)
  useLayoutEffect(() => showActive(box.current!, props), [active])
  useLayoutEffect(() => {
    if (height > 0 && last >= first) props.onShow(first, last)
  })
  const places = Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n)
  if (active >= 0 && active < count && (active < first || active > last)) places.push(active)
  return (
    <>
      <div
        ref={box}
        class="window-list"
        role="listbox"
        aria-label={label}
        aria-multiselectable="true"
        aria-activedescendant={active >= 0 ? `${idPrefix}${active}` : undefined}
        tabIndex={0}
        onScroll={(event) => {
          const { scrollTop: top } = event.currentTarget
          setPlace((place) => ({ ...place, scrollTop: top }))
        }}
        onFocus={props.onFocus}
        onKeyDown={props.onKeyDown}
      >
        <div class="window-space" style={{ height: `${shown}px` }} role="presentation">
          {places.map((index) => (
            <div
              key={props.keyAt(index) ?? index}
              class="window-row"
              role="presentation"
              style={{ height: `${rowHeight}px`, transform: `translateY(${topOf(index)}px)` }}
            >
              {row(index, `${idPrefix}${index}`)}
            </div>
          ))}
        </div>
      </div>
      {overlay?.((index) => topOf(index) - scrollTop)}
    </>
  )
}

function useSize(box: { current: HTMLDivElement | null }, onSize: (height: number) => void): void {
  useLayoutEffect(() => {
    const element = box.current!
    const observer = new ResizeObserver(() => onSize(element.clientHeight))
    observer.observe(element)
    onSize(element.clientHeight)
    return () => observer.disconnect()
  }, [])
}

/** Rows that come or go above the window do not move what is read: the scroll bar moves instead. */
function useAnchor(box: { current: HTMLDivElement | null }, props: WindowListProps, scrollTop: number): void {
  const { keyAt, indexOf, rowHeight, count } = props
  const anchor = useRef<string | undefined>(undefined)
  const place = useRef(0)
  const isScaled = count * rowHeight > MOST_PX
  const top = Math.floor(scrollTop / rowHeight)
  useLayoutEffect(() => {
    const before = anchor.current
    if (!isScaled && before !== undefined && scrollTop > 0 && keyAt(place.current) !== before) {
      const now = indexOf(before)
      if (now >= 0) box.current!.scrollTop += (now - place.current) * rowHeight
    }
    anchor.current = keyAt(top)
    place.current = top
  })
}

/** Scrolls as little as needed to have the active row in the window. */
function showActive(box: HTMLDivElement, { active, count, rowHeight }: WindowListProps): void {
  if (active < 0) return
  const { clientHeight: height, scrollTop } = box
  const { whole, shown, room } = geometry(count, rowHeight, scrollTop, height)
  const scale = whole === shown ? 1 : room / Math.max(1, whole - height)
  const offset = scrollTop / scale
  const top = active * rowHeight
  if (top < offset) box.scrollTop = top * scale
  else if (top + rowHeight > offset + height) box.scrollTop = (top + rowHeight - height) * scale
}
