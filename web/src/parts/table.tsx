// Tables of records: loading rows, an empty state, an error, rows that open, and the next part of the list.

import type { ComponentChildren } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import { wayOfTimes } from '../base/dates.ts'
import { look } from '../base/look.ts'
import type { PagesState } from '../live/query.ts'
import { common } from '../words/en/common.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import { Empty, ErrorCard, Skeleton } from './quiet.tsx'

export interface Column<T> {
  /** Empty for a column of buttons. */
  head: string
  cell: (row: T) => ComponentChildren
  class?: string
}

interface TableProps<T> {
  /** What the table lists, for screen readers. */
  label: string
  rows: readonly T[]
  columns: readonly Column<T>[]
  keyOf: (row: T) => string
  /** Rows of two lines. */
  isTall?: boolean
  /** On a phone each value but the first has the name of its column: numbers say nothing without it. */
  isNamed?: boolean
  /** The row that is open, and what it shows. */
  opened?: { id: string | null; toggle: (id: string | null) => void; detail: (row: T) => ComponentChildren }
}

export function Table<T>({ label, rows, columns, keyOf, isTall = false, isNamed = false, opened }: TableProps<T>) {
  // Read here, so that rows follow a clock that is chosen, or known, after they were drawn.
  const times = `${look.value.clock} ${wayOfTimes()}`
  return (
    <div class="table-box">
      <table
        class={`table folds ${isTall ? 'tall' : ''} ${isNamed ? 'named' : ''} ${opened === undefined ? '' : 'opens'}`}
        aria-label={label}
      >
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.head} scope="col" class={column.class}>
                {column.head === '' ? <span class="hidden-word">{common.more}</span> : column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={keyOf(row)} row={row} id={keyOf(row)} columns={columns} times={times} opened={opened} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface RowProps<T> {
  row: T
  id: string
  columns: readonly Column<T>[]
  /** How times are written. */
  times: string
  opened: TableProps<T>['opened']
}

const INTERACTIVE = 'a, button, input, select, label'

function Row<T>({ row, id, columns, times, opened }: RowProps<T>) {
  const isOpen = opened?.id === id
  const opens = opened !== undefined
  const latest = useRef(opened)
  latest.current = opened
  // The same element is not drawn again: opening one row leaves the others alone.
  const line = useMemo(() => {
    const toggle = opens ? () => latest.current!.toggle(isOpen ? null : id) : undefined
    return <Line row={row} columns={columns} isOpen={isOpen} toggle={toggle} />
  }, [row, id, columns, times, isOpen, opens])
  return (
    <>
      {line}
      {isOpen && (
        <tr class="detail">
          <td colSpan={columns.length}>{opened!.detail(row)}</td>
        </tr>
      )}
    </>
  )
}

interface LineProps<T> {
  row: T
  columns: readonly Column<T>[]
  isOpen: boolean
  /** Of a row that opens. */
  toggle: (() => void) | undefined
}

function Line<T>({ row, columns, isOpen, toggle }: LineProps<T>) {
  return (
    <tr
      class={toggle === undefined ? '' : `open-able ${isOpen ? 'opened' : ''}`}
      onClick={(event) => {
        if (toggle !== undefined && !(event.target as Element).closest(INTERACTIVE)) toggle()
      }}
    >
      {columns.map((column, index) => (
        <td
          key={column.head}
          class={column.head === '' ? `actions ${column.class ?? ''}` : column.class}
          data-head={column.head}
        >
          {index === 0 && toggle !== undefined ? (
            <button type="button" class="row-button" aria-expanded={isOpen} onClick={toggle}>
              <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} tone="soft" />
              {column.cell(row)}
            </button>
          ) : (
            column.cell(row)
          )}
        </td>
      ))}
    </tr>
  )
}

export interface ListProps<T> extends Omit<TableProps<T>, 'rows'> {
  pages: PagesState<T>
  /** Shown when there is nothing and no filter is set. */
  empty: ComponentChildren
  /** Set when a filter is, to clear them. */
  clearFilters?: () => void
}

/** A list with all its states. */
export function List<T>({ pages, empty, clearFilters, ...table }: ListProps<T>) {
  if (pages.error !== null && pages.items.length === 0) return <ErrorCard error={pages.error} onRetry={pages.refetch} />
  if (pages.isLoading) return <Skeleton />
  if (pages.items.length === 0) return clearFilters === undefined ? <>{empty}</> : <NoMatch clear={clearFilters} />
  return (
    <>
      <Table {...table} rows={pages.items} />
      {pages.error !== null && <ErrorCard error={pages.error} onRetry={pages.loadMore} />}
      {pages.hasMore && (
        <div class="row">
          <Button isBusy={pages.isLoadingMore} onPress={pages.loadMore}>
            {common.loadMore}
          </Button>
        </div>
      )}
    </>
  )
}

export function NoMatch({ clear }: { clear: () => void }) {
  return (
    <Empty icon="search" title={common.noMatch} action={<Button onPress={clear}>{common.clear}</Button>}>
      {common.noMatchHint}
    </Empty>
  )
}
