// Headers for the download of untrusted files: no browser executes them, and every client can save them under their name.

/** Types a browser would execute or render with the rights of this origin (docs/design/mailbox.md §10). */
const ACTIVE =
  /(?:^text\/(?:html|xml|xsl|css|(?:x-)?(?:java|ecma|live|j|vb)script)|^application\/(?:xhtml|xml|(?:x-)?(?:java|ecma)script|x-shockwave-flash|x-sh|x-csh|x-httpd-php|hta|mathml|vnd\.mozilla\.xul)|^image\/svg|^multipart\/|\+xml$|script$|\/xml)/

/** The Content-Type of a download; executable types are sent as bytes only. */
export function downloadType(type: string): string {
  const name = type.split(';', 1)[0]!.trim().toLowerCase()
  if (ACTIVE.test(name) || !/^[!#$&^_.+a-z0-9-]{1,127}\/[!#$&^_.+a-z0-9-]{1,127}$/.test(name)) {
    return 'application/octet-stream'
  }
  return name
}

/** RFC 6266: an ASCII name for old clients, and the full one in the form of RFC 8187. */
export function contentDisposition(disposition: 'attachment' | 'inline', filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/gu, '_')
  const whole = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${disposition}; filename="${plain}"; filename*=UTF-8''${whole}`
}

/** Headers of every file: even when it is opened by mistake, it cannot run. */
export const SANDBOX = { 'Content-Security-Policy': "sandbox; default-src 'none'" }
