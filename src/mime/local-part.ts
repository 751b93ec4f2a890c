// Local parts of addresses: unquoting and sub-addressing, and the key by which messages to one person are counted.

/** The base of a local part: unquoted, lower-case, without its `+tag` (RFC 5233). */
export function baseLocal(written: string): string {
  const plain = unquote(written).toLowerCase()
  const tag = plain.indexOf('+')
  return tag < 0 ? plain : plain.slice(0, tag)
}

/** A lower-case address without the `+tag` of its local part. */
export function untagged(email: string): string {
  const at = Math.max(email.lastIndexOf('@'), 0)
  return `${baseLocal(email.slice(0, at))}${email.slice(at).toLowerCase()}`
}

/** Removes quoting: `"a.b"` and `a.b` are the same mailbox (RFC 5321 §4.1.2). */
export function unquote(local: string): string {
  if (local.length < 2 || !local.startsWith('"') || !local.endsWith('"')) return local
  return local.slice(1, -1).replace(/\\(.)/gsu, '$1')
}

/**
 * The mailbox that an address most likely is, for limits only: without `+tag` and without the dots that large providers ignore. Different
 * persons may share one.
 */
export function countedMailbox(email: string): string {
  const at = Math.max(email.lastIndexOf('@'), 0)
  return `${baseLocal(email.slice(0, at)).replaceAll('.', '')}${email.slice(at).toLowerCase()}`
}
