// A list within the page of a record, with a field for its search where it is long.

import { useState } from 'preact/hooks'
import { useMatching } from '../live/query.ts'
import { common } from '../words/en/common.ts'
import { SearchInput } from './search-input.tsx'
import { List, type ListProps } from './table.tsx'

/** Rows that are found without searching. */
const SHORT = 8

interface SearchedListProps<T> extends ListProps<T> {
  /** What is searched of a row. */
  textOf: (row: T) => string
}

export function SearchedList<T>({ pages, textOf, ...list }: SearchedListProps<T>) {
  const [text, setText] = useState('')
  const shown = useMatching(pages, text, textOf)
  const isLong = pages.items.length > SHORT || pages.hasMore
  return (
    <>
      {(isLong || text !== '') && (
        <div class="filters">
          <SearchInput label={common.search} value={text} onValue={setText} />
        </div>
      )}
      <List {...list} pages={shown} clearFilters={text === '' ? undefined : () => setText('')} />
    </>
  )
}
