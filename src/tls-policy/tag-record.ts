// Reads the TXT records of MTA-STS (RFC 8461 §3.1) and of TLS reports (RFC 8460 §3): a version, then fields with a name and a value.

/** Characters of a record that are read. */
const RECORD_MAX = 2048
const NAME = /^[a-z0-9][a-z0-9_.-]{0,31}$/i
/** Visible ASCII but "=" and ";"; a URL needs "=". */
const VALUE = /^[\x21-\x3a\x3c-\x7e]+$/

/** @returns the fields by name, the first of each name; null for a text that is no record of this version */
export function readTagRecord(text: string, version: string, isValue: (name: string, value: string) => boolean) {
  if (text.length > RECORD_MAX) return null
  const [first, ...rest] = text.split(/[ \t]*;[ \t]*/)
  if (first !== `v=${version}`) return null
  // One semicolon may end the record.
  if (rest.at(-1) === '') rest.pop()
  const fields = new Map<string, string>()
  for (const field of rest) {
    const cut = field.indexOf('=')
    const [name, value] = [field.slice(0, cut), field.slice(cut + 1)]
    if (cut < 0 || !NAME.test(name) || !isValue(name, value)) return null
    if (!fields.has(name)) fields.set(name, value)
  }
  return fields
}

/** A value of an extension. */
export function isPlainValue(value: string): boolean {
  return VALUE.test(value)
}

/** The one record of a version among the TXT records of a name; null without one, or with several. */
export function onlyRecord(records: readonly string[], version: string): string | null {
  const own = records.filter(
    (text) => text.startsWith(`v=${version}`) && !/^[a-z0-9]/i.test(text.slice(version.length + 2)),
  )
  return own.length === 1 ? own[0]! : null
}
