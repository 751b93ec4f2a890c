// Formats numbers as an aligned table.

/** A number with about three significant digits. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '–'
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en')
  return String(Number(value.toPrecision(3)))
}

export function ratio(value: number, base: number): string {
  return base > 0 && Number.isFinite(value) ? `${short(value / base)} ×` : '–'
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1048576)} MB`
}

/** Prints rows under a heading, text to the left and numbers to the right. */
export function printTable(title: string, head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ')
  console.log(`\n${title}`)
  console.log(line(head))
  console.log(widths.map((width) => '─'.repeat(width)).join('  '))
  for (const row of rows) console.log(line(row))
}

/** The value below which the given share (0…1) of the sample lies. */
export function quantile(sample: readonly number[], share: number): number {
  const sorted = Float64Array.from(sample).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
