// The address of a mailto URI (RFC 6068), which a stranger wrote.

/** Without the fields behind it; as it is written where its escapes are broken. */
export function addressIn(mailto: string): string {
  const written = mailto.slice('mailto:'.length).replace(/\?.*$/, '')
  try {
    return decodeURIComponent(written)
  } catch {
    return written
  }
}
