// What the documents for mail programs share: the domain a request asks for, and text of their own media types (docs/design/mail-programs.md §5).

import { notFound } from '../base/errors.ts'
import { sha256 } from '../base/secrets.ts'
import type { Context } from '../context.ts'
import { domainName } from '../directory/names/domain-name.ts'
import { type BytesAnswer, bytes } from '../http/route.ts'
import { domainOf } from '../mime/address.ts'

/** Longest address that is read, characters. */
export const SETUP_ADDRESS_MAX = 320
/** Of each source, for all these documents together. */
export const SETUP_THROTTLE = { times: 60, seconds: 60, shared: 'mail-setup' } as const
/** Names that lead here beside the domain itself. */
const PREFIX = /^(?:autoconfig|autodiscover)\./

/**
 * The domain a mail program asks about: that of the address, or the one in the host name of the request. Whether the
 * address exists is not looked up.
 * @param email as given, may be empty
 * @throws ProductError not_found for a domain that is not verified here
 */
export function setupDomain({ directory }: Context, email: string, host: string): string {
  const name = domainName(email === '' ? host.replace(PREFIX, '') : domainOf(email))
  const domain = name === null ? undefined : directory.domains.byName(name)
  if (domain === undefined) throw notFound('domain')
  return domain.name
}

/** A text with its media type. */
export function textDocument(type: string, text: string, headers: Record<string, string> = {}): BytesAnswer {
  const content = Buffer.from(text)
  return bytes({
    type: `${type}; charset=utf-8`,
    sizeBytes: content.length,
    etag: `W/"${sha256(content).toString('base64url').slice(0, 16)}"`,
    headers,
    async *read(start, end) {
      yield content.subarray(start, end)
    },
  })
}
