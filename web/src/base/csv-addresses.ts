// Reads addresses with notes from pasted text or a file: one for each line, or comma-separated values with a head.

export interface AddressLine {
  email: string
  note: string | null
}

const NOTE_MAX = 500

/** The cells of all lines (RFC 4180); cells may be separated by commas, semicolons or tabs. */
function cellsOf(text: string): string[][] {
  const rows: string[][] = [[]]
  const pattern = /"((?:[^"]|"")*)"|([^",;\t\r\n]+)|(\r\n|\n|\r)|[,;\t]/g
  let isNewCell = true
  for (const [, quoted, plain, line] of text.matchAll(pattern)) {
    const value = quoted?.replaceAll('""', '"') ?? plain
    if (line !== undefined) {
      rows.push([])
      isNewCell = true
    } else if (value === undefined) {
      if (isNewCell) rows.at(-1)!.push('')
      isNewCell = true
    } else if (isNewCell) {
      rows.at(-1)!.push(value.trim())
      isNewCell = false
    }
  }
  return rows.filter((row) => row.some((cell) => cell !== ''))
}

/** A head names the columns `email` and `note`; without one the first cell is the address and the second the note. */
export function addressesOf(text: string): AddressLine[] {
  const rows = cellsOf(text.replace(/^\ufeff/, ''))
  const head = rows[0]?.map((cell) => cell.toLowerCase()) ?? []
  const named = head.indexOf('email') >= 0 ? head.indexOf('email') : head.indexOf('address')
  const email = Math.max(named, 0)
  const note = named >= 0 ? head.indexOf('note') : 1
  return rows.slice(named >= 0 ? 1 : 0).map((row) => {
    const text = row[note]?.slice(0, NOTE_MAX) ?? ''
    return { email: row[email] ?? '', note: text === '' ? null : text }
  })
}
