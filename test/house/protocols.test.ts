// Protocols stay in the upper layers: below them there are product errors and values, no status codes, SMTP replies or HTTP headers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sources } from '../support/source.ts'

const PROTOCOL_ROOMS = [
  'main.ts',
  'cli',
  'inbound',
  'imap',
  'submission',
  'managesieve',
  'smtp',
  'net',
  'api',
  'http',
  'pages',
  'me',
  'jobs',
  'mcp',
]
const PROTOCOL_PACKAGES =
  /^(?:koa|@koa\/router|smtp-server|undici|node:http|node:https|node:http2|node:net|node:tls)(?:\/|$)/
/** Below the protocol rooms, only the DNS resolver, updates of zones, the virus scanner client, the transports and two checks of the doctor open a socket. */
const MAY_OPEN_SOCKETS =
  /^src\/(?:base\/(?:resolver|safe-fetch|virus-scan|dns-[a-z]+)|dns\/update|outbound\/transports\/.+|maintenance\/doctor\/(?:client-ports|smtp-port))\.ts$/
const SOCKETS = ['node:net', 'node:tls']
/** HTTP clients: connected sending accounts, and webhooks. */
const MAY_CALL_HTTP = /^src\/(?:acme\/http|base\/safe-fetch|outbound\/(?:model\/api-client|transports\/.+))\.ts$/
const CLIENTS = ['undici']
/** Replies of other servers are data there. */
const READS_REPLIES = /^src\/(?:acme\/http|base\/safe-fetch|outbound\/(?:model\/api-client|transports\/)|reports\/)/
/** These open no socket: they classify IP addresses and configure trusted certificates. */
const OPENS_NO_SOCKET = /^(?:isIP|isIPv4|isIPv6|BlockList|SocketAddress|getCACertificates|setDefaultCACertificates)$/
const REPLY = /(?:^|\s)[245]\d\d[ -][245]\.\d{1,3}\.\d{1,3}\b/
const HTTP_WORD =
  /^(?:WWW-Authenticate|Retry-After|ETag|If-Match|If-None-Match|X-Request-Id|Cache-Control|Set-Cookie|Location|X-RateLimit-\w+)$/i
const JMAP_WORD = /^urn:ietf:params:jmap/

const below = sources().filter(({ path }) => !PROTOCOL_ROOMS.includes(path.split('/')[1]!))
const withoutReplies = below.filter(({ path }) => !READS_REPLIES.test(path))

test('no protocol server or client is imported below the protocol rooms', () => {
  const wrong = below.flatMap(({ path, imports }) =>
    imports
      .filter(({ specifier }) => PROTOCOL_PACKAGES.test(specifier))
      .filter(({ specifier }) => !(MAY_OPEN_SOCKETS.test(path) && SOCKETS.includes(specifier)))
      .filter(({ specifier }) => !(MAY_CALL_HTTP.test(path) && CLIENTS.includes(specifier)))
      .map(({ specifier, line, names }) => ({ where: `${path}:${line}`, specifier, names }))
      .filter(({ names }) => !names.every((name) => OPENS_NO_SOCKET.test(name)))
      .map(({ where, specifier }) => `${where} imports ${specifier}`),
  )
  assert.deepEqual(wrong, [])
})

test('no SMTP reply and no HTTP header is written below the protocol rooms', () => {
  const wrong = withoutReplies.flatMap(({ path, literals }) =>
    literals
      .filter(({ text }) => REPLY.test(text) || HTTP_WORD.test(text) || JMAP_WORD.test(text))
      .map(({ line, text }) => `${path}:${line} ${text.slice(0, 60)}`),
  )
  assert.deepEqual(wrong, [])
})

test('no status code is set below the protocol rooms', () => {
  const wrong = withoutReplies.flatMap(({ path, numbers }) =>
    numbers
      .filter(
        ({ name, value }) => /^(?:status|statusCode|code|responseCode)$/.test(name) && value >= 200 && value < 600,
      )
      .map(({ line, name, value }) => `${path}:${line} ${name}: ${value}`),
  )
  assert.deepEqual(wrong, [])
})
