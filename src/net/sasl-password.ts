// PLAIN (RFC 4616) and LOGIN (draft-murchison-sasl-login-00): the client sends its secret, which only TLS protects.

import { isUtf8 } from 'node:buffer'
import { FIRST, malformed, messageText, SASL_MESSAGE_MAX, type SaslExchange, type SaslStep } from './sasl-exchange.ts'

/** One message: [authorization identity] NUL authentication identity NUL password. */
export function openPlain(): SaslExchange {
  return {
    respond: (response) => (response === null ? FIRST : readPlain(response)),
    conclude: () => null,
  }
}

function readPlain(message: Buffer): SaslStep {
  if (message.length > SASL_MESSAGE_MAX || !isUtf8(message)) return malformed('The message is too long, or not UTF-8.')
  const parts = message.toString().split('\0')
  const [as = '', name = '', secret = ''] = parts
  if (parts.length !== 3 || name === '' || secret === '') {
    return malformed('PLAIN needs a user name and a password, each after a NUL.')
  }
  if (as !== '' && as.toLowerCase() !== name.toLowerCase()) return malformed('Acting as another user is not supported.')
  return { next: 'verify', credentials: { kind: 'password', name, secret } }
}

// The prompts clients expect literally.
const USER_NAME = Buffer.from('Username:')
const PASSWORD = Buffer.from('Password:')

/** Two messages: the user name, which some clients send with the command, and the password. */
export function openLogin(): SaslExchange {
  let name: string | null = null
  return {
    respond(response) {
      if (response === null) return { next: 'challenge', data: USER_NAME }
      const text = messageText(response)
      if (text === null || text === '') return malformed('A user name or password is empty, too long, or not UTF-8.')
      if (name === null) {
        name = text
        return { next: 'challenge', data: PASSWORD }
      }
      return { next: 'verify', credentials: { kind: 'password', name, secret: text } }
    },
    conclude: () => null,
  }
}
