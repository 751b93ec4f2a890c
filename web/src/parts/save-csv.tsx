// Saves what a list shows as comma-separated values: the button, and the dialog with the progress.

import { useRef, useState } from 'preact/hooks'
import { csvOf } from '../base/csv.ts'
import { readParts } from '../base/list-parts.ts'
import { count, plural } from '../base/numbers.ts'
import { saveFile } from '../base/save-file.ts'
import { useAction } from '../live/query.ts'
import { saveCsv as words } from '../words/en/save-csv.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

/** Rows of one file. */
const ROWS_MAX = 10_000
/** The largest part that the API gives. */
export const CSV_PART = 100

interface SaveCsvProps<T> {
  /** Of the file, without its ending. */
  name: string
  /** One part of the list with the filters of the page, of {@link CSV_PART} rows. */
  ask: (cursor: string | undefined) => Promise<{ items: T[]; next: string | null }>
  /** The columns, named as the API does, with the text of each row. */
  columns: Readonly<Record<string, (row: T) => string | number | null>>
}

export function SaveCsv<T>(props: SaveCsvProps<T>) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button kind="quiet" icon="file-down" onPress={() => setOpen(true)}>
        {words.button}
      </Button>
      {isOpen && <SaveDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

function SaveDialog<T>({ name, ask, columns, onClose }: SaveCsvProps<T> & { onClose: () => void }) {
  const [rows, setRows] = useState(0)
  const [result, setResult] = useState<string | null>(null)
  const stop = useRef(new AbortController())
  const save = useAction(async () => {
    const { signal } = stop.current
    const read = await readParts(ask, ROWS_MAX, setRows, signal)
    if (signal.aborted) return
    const lines = read.rows.map((row) => Object.values(columns).map((cell) => String(cell(row) ?? '')))
    saveFile(
      `${name}-${new Date().toISOString().slice(0, 10)}.csv`,
      csvOf([Object.keys(columns), ...lines]),
      'text/csv',
    )
    setResult(read.hasMore ? words.savedPart(count(ROWS_MAX)) : words.saved(rowsOf(read.rows.length)))
  })
  const close = () => {
    stop.current.abort()
    onClose()
  }
  const foot = (
    <>
      <Button onPress={close}>{result === null ? words.cancel : words.close}</Button>
      {result === null && (
        <Button kind="primary" isBusy={save.isBusy} onPress={() => void save.run()}>
          {words.save}
        </Button>
      )}
    </>
  )
  return (
    <Dialog title={words.title} foot={foot} error={save.error} onClose={close}>
      <p>{words.text(count(ROWS_MAX))}</p>
      <p class="soft" role="status">
        {result ?? (save.isBusy ? words.progress(rowsOf(rows)) : '')}
      </p>
    </Dialog>
  )
}

const rowsOf = (rows: number) => plural(rows, words.row, words.rows)
