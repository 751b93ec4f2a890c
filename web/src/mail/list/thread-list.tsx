// The list of conversations: any length, one tab stop, the keys of a list box.

import { useCallback, useEffect, useState } from 'preact/hooks'
import { look } from '../../base/look.ts'
import { Button } from '../../parts/button.tsx'
import { Empty, ErrorCard } from '../../parts/quiet.tsx'
import { WindowList } from '../../parts/window-list.tsx'
import type { ThreadList } from '../../sync/thread-list.ts'
import { common } from '../../words/en/common.ts'
import { mail as words } from '../../words/en/mail.ts'
import { cursor, placeName, useMail } from '../mail-context.ts'
import { isSearch } from '../places.ts'
import { useIsPhone } from '../widths.ts'
import { pressInList } from './list-keys.ts'
import { RowActions } from './row-actions.tsx'
import { PendingRow, ThreadRow } from './thread-row.tsx'

const ROW_PREFIX = 'row-'
const HEIGHTS = { phone: 88, comfortable: 72, compact: 52 }

export function ThreadListView() {
  const { list } = useMail()
  useEffect(() => {
    if (list !== null && list.total.peek() === null) list.show(0, 0)
  }, [list])
  if (list === null) return <Empty icon="folder" title={words.noFolder} />
  const total = list.total.value
  if (list.error.value !== null && (total ?? 0) === 0)
    return <ErrorCard error={list.error.value} onRetry={() => list.show(0, 0)} />
  if (total === null) return <Loading />
  return total === 0 ? <EmptyList /> : <Rows key={JSON.stringify(list.filter)} list={list} total={total} />
}

function Loading() {
  return (
    <div class="window-list" role="status">
      <span class="hidden-word">{common.loading}</span>
    </div>
  )
}

function Rows({ list, total }: { list: ThreadList; total: number }) {
  const { place, folder, go } = useMail()
  const isPhone = useIsPhone()
  const [hovered, setHovered] = useState(-1)
  const open = useCallback(
    (threadId: string) => {
      cursor.value = threadId
      go({ ...place, threadId })
    },
    [go, place],
  )
  const rowHeight = isPhone ? HEIGHTS.phone : HEIGHTS[look.value.density]
  const active = cursor.value === null ? -1 : list.indexOf(cursor.value)
  return (
    <div
      class={`thread-list ${look.value.density}`}
      role="presentation"
      data-version={list.version.value}
      onPointerLeave={() => setHovered(-1)}
      onPointerOver={(event) => setHovered(rowIndexOf(event.target))}
    >
      <WindowList
        label={words.list(placeName(place, folder))}
        count={total}
        rowHeight={rowHeight}
        active={active}
        idPrefix={ROW_PREFIX}
        keyAt={(index) => list.idAt(index)}
        indexOf={(id) => list.indexOf(id)}
        onShow={(first, last) => list.show(first, last)}
        onFocus={() => {
          if (active < 0) cursor.value = list.idAt(0) ?? null
        }}
        onKeyDown={(event) => pressInList(event, { list, active, total, rowHeight }, open)}
        row={(index, elementId) => {
          const id = list.idAt(index)
          if (id === undefined) return <PendingRow />
          const state = { isActive: index === active, isOpen: id === place.threadId }
          return <ThreadRow {...state} index={index} elementId={elementId} threadId={id} onOpen={open} />
        }}
        overlay={(topOf) => <RowActions index={hovered} threadId={list.idAt(hovered)} top={topOf(hovered)} />}
      />
    </div>
  )
}

/** The row below the pointer; the toolbar stands over its row. */
function rowIndexOf(target: EventTarget | null): number {
  if (!(target instanceof Element)) return -1
  const toolbar = target.closest<HTMLElement>('.row-actions')
  if (toolbar !== null) return Number(toolbar.dataset.index)
  const id = target.closest('.thread-row')?.id ?? ''
  return id.startsWith(ROW_PREFIX) ? Number(id.slice(ROW_PREFIX.length)) : -1
}

function EmptyList() {
  const { place, folder, data, go } = useMail()
  if (place.shown !== 'all') {
    const all = <Button onPress={() => go({ ...place, shown: 'all' })}>{words.shown.all}</Button>
    return <Empty icon="search" title={words.emptyFilter} action={all} />
  }
  if (isSearch(place))
    return (
      <Empty icon="search" title={words.emptySearch(place.q)}>
        {words.emptySearchHint}
      </Empty>
    )
  if (folder?.role === 'inbox')
    return (
      <Empty icon="inbox" title={words.emptyInbox}>
        {words.emptyInboxHint(data.mailbox.email)}
      </Empty>
    )
  return (
    <Empty icon="folder" title={words.empty}>
      {words.emptyHint}
    </Empty>
  )
}
