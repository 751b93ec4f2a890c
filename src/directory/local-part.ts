// Local parts of addresses: unquoting and sub-addressing.

/** The base of a local part: unquoted, lower-case, without its `+tag` (RFC 5233). */
export function baseLocal(written: string): string {
  const plain = unquote(written).toLowerCase()
  const tag = plain.indexOf('+')
  return tag < 0 ? plain : plain.slice(0, tag)
}

/** Removes quoting: `"a.b"` and `a.b` are the same mailbox (RFC 5321 §4.1.2). */
export function unquote(local: string): string {
  if (local.length < 2 || !local.startsWith('"') || !local.endsWith('"')) return local
  return local.slice(1, -1).replace(/\\(.)/gsu, '$1')
}
