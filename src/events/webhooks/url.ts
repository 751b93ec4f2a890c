// Where a subscription may be told: https, and nothing that hides who is asked or as whom.

import { invalid } from '../../base/errors.ts'

/** Characters of a webhook's address. */
export const URL_MAX = 2048

/** @throws ProductError validation_error on `url` */
export function checkUrl(text: string): URL {
  if (text.length > URL_MAX) throw invalid('url', 'too_big', `The url must have at most ${URL_MAX} characters.`)
  // URL would take them out without a word.
  const url = /[\s\x00-\x1f\x7f\\]/.test(text) ? null : URL.parse(text)
  if (url === null) throw invalid('url', 'invalid_format', 'The url must be an absolute address.')
  if (url.protocol !== 'https:') throw invalid('url', 'invalid_format', 'The url must begin with https://.')
  if (url.username !== '' || url.password !== '') {
    throw invalid('url', 'invalid_format', 'The url must not hold a user name or password.')
  }
  if (text.includes('#')) throw invalid('url', 'invalid_format', 'The url must not have a fragment.')
  if (url.port === '0') throw invalid('url', 'invalid_format', 'The url must not name port 0.')
  return url
}
