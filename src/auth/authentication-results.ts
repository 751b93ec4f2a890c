// Formats the value of Authentication-Results (RFC 8601).

import type { Arrival, AuthVerdict } from '../mime/message.ts'

/** With ten signatures and values of maximum length the field stays below 8 KiB. */
const VALUE_MAX = 255

/** Tokens only (RFC 2045 5.1, and "@" for addresses): they cannot end a comment, a string or a line. */
const TOKEN = /^[\w.@+-]+$/

/** Folded with CRLF, without the field name and without a final line break. */
export function resultsHeader(verdict: AuthVerdict, arrival: Arrival): string {
  const identity =
    arrival.mailFrom === '' ? property('smtp.helo', arrival.helo) : property('smtp.mailfrom', verdict.spfDomain)
  const dkim =
    verdict.signatures.length === 0
      ? [`dkim=${verdict.dkim}`]
      : verdict.signatures.map(
          (signature) =>
            `dkim=${signature.result}${property('header.d', signature.domain)}${property('header.s', signature.selector)}${property('header.a', signature.algorithm)}`,
        )
  const policy = verdict.dmarcPolicy === '' ? '' : ` (p=${verdict.dmarcPolicy})`
  return [
    arrival.hostName,
    `spf=${verdict.spf}${identity}`,
    ...dkim,
    `dmarc=${verdict.dmarc}${policy}${property('header.from', verdict.fromDomain)}`,
    `arc=${verdict.arc}${TOKEN.test(verdict.arcDomain) ? ` (d=${verdict.arcDomain})` : ''}`,
  ].join(';\r\n ')
}

/** " name=value", or "" when the value is not a token: properties are optional (RFC 8601 2.2). */
function property(name: string, value: string): string {
  return value.length <= VALUE_MAX && TOKEN.test(value) ? ` ${name}=${value}` : ''
}
