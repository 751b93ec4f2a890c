// Checks webhook URLs: https, without credentials, fragment or control characters; in a trial also http to this machine.

import { invalid } from '../../base/errors.ts'
import { isLoopbackHost } from '../../base/safe-fetch.ts'

/** Maximum characters of a webhook URL. */
export const URL_MAX = 2048

/** @param isTrial whether http to this machine is allowed @throws ProductError validation_error on `url` */
export function checkUrl(text: string, isTrial: boolean): URL {
  if (text.length > URL_MAX) throw invalid('url', 'too_big', `The URL must have at most ${URL_MAX} characters.`)
  // URL.parse removes them silently.
  const url = /[\s\x00-\x1f\x7f\\]/.test(text) ? null : URL.parse(text)
  if (url === null)
    throw invalid('url', 'invalid_format', 'The URL must be absolute, such as https://hooks.example.com/mail.')
  if (url.protocol !== 'https:' && !(isTrial && url.protocol === 'http:' && isLoopbackHost(url.hostname))) {
    const sentence = isTrial
      ? 'The URL must begin with https://, or with http://localhost in a trial.'
      : 'The URL must begin with https://.'
    throw invalid('url', 'invalid_format', sentence)
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid('url', 'invalid_format', 'The URL must not contain a user name or password.')
  }
  if (text.includes('#')) throw invalid('url', 'invalid_format', 'The URL must not have a fragment.')
  if (url.port === '0') throw invalid('url', 'invalid_format', 'The URL must not use port 0.')
  return url
}
