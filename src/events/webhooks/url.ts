// Checks webhook URLs: https only, without credentials, fragment or control characters.

import { invalid } from '../../base/errors.ts'

/** Maximum characters of a webhook URL. */
export const URL_MAX = 2048

/** @throws ProductError validation_error on `url` */
export function checkUrl(text: string): URL {
  if (text.length > URL_MAX) throw invalid('url', 'too_big', `The URL must have at most ${URL_MAX} characters.`)
  // URL.parse removes them silently.
  const url = /[\s\x00-\x1f\x7f\\]/.test(text) ? null : URL.parse(text)
  if (url === null)
    throw invalid('url', 'invalid_format', 'The URL must be absolute, such as https://hooks.example.com/mail.')
  if (url.protocol !== 'https:') throw invalid('url', 'invalid_format', 'The URL must begin with https://.')
  if (url.username !== '' || url.password !== '') {
    throw invalid('url', 'invalid_format', 'The URL must not contain a user name or password.')
  }
  if (text.includes('#')) throw invalid('url', 'invalid_format', 'The URL must not have a fragment.')
  if (url.port === '0') throw invalid('url', 'invalid_format', 'The URL must not use port 0.')
  return url
}
