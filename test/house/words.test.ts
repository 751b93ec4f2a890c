// Words of the wire below floor 8: there are product errors and values down there, no status codes, replies or header names of HTTP.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sources } from '../support/source.ts'

const DOORS = ['main.ts', 'cli', 'inbound', 'smtp', 'net', 'api', 'http', 'pages', 'jobs']
const DOOR_PACKAGES =
  /^(?:koa|@koa\/router|smtp-server|undici|node:http|node:https|node:http2|node:net|node:tls)(?:\/|$)/
/** Below the doors only the questions to name servers and to the scanner of files, and the carriers of mail, open a socket. */
const MAY_OPEN_SOCKETS = /^src\/(?:base\/(?:resolver|safe-fetch|virus-scan|dns-[a-z]+)|outbound\/transports\/.+)\.ts$/
const SOCKETS = ['node:net', 'node:tls']
/** Where we are the client of somebody else's HTTP API: accounts that send for us, and who asked to be told. */
const MAY_ASK = /^src\/(?:base\/safe-fetch|outbound\/(?:transports|oauth|sns)\/.+)\.ts$/
const CLIENTS = ['undici']
/** What other servers say of our mail is data there: replies to us, not of ours. */
const READS_REPLIES = /^src\/(?:base\/safe-fetch|outbound\/(?:transports|oauth|sns)\/|reports\/)/
/** Telling an IP address from a name, and naming the certificates trusted, open no socket. */
const OPENS_NOTHING = /^(?:isIP|isIPv4|isIPv6|BlockList|SocketAddress|getCACertificates|setDefaultCACertificates)$/
const REPLY = /(?:^|\s)[245]\d\d[ -][245]\.\d{1,3}\.\d{1,3}\b/
const HTTP_WORD =
  /^(?:WWW-Authenticate|Retry-After|ETag|If-Match|If-None-Match|X-Request-Id|Cache-Control|Set-Cookie|Location|X-RateLimit-\w+)$/i
const JMAP_WORD = /^urn:ietf:params:jmap/

const below = sources().filter(({ path }) => !DOORS.includes(path.split('/')[1]!))
const mute = below.filter(({ path }) => !READS_REPLIES.test(path))

test('no protocol server or client is imported below the doors', () => {
  const wrong = below.flatMap(({ path, imports }) =>
    imports
      .filter(({ specifier }) => DOOR_PACKAGES.test(specifier))
      .filter(({ specifier }) => !(MAY_OPEN_SOCKETS.test(path) && SOCKETS.includes(specifier)))
      .filter(({ specifier }) => !(MAY_ASK.test(path) && CLIENTS.includes(specifier)))
      .map(({ specifier, line, names }) => ({ where: `${path}:${line}`, specifier, names }))
      .filter(({ names }) => !names.every((name) => OPENS_NOTHING.test(name)))
      .map(({ where, specifier }) => `${where} imports ${specifier}`),
  )
  assert.deepEqual(wrong, [])
})

test('no reply of SMTP and no header of HTTP is spelled below the doors', () => {
  const wrong = mute.flatMap(({ path, literals }) =>
    literals
      .filter(({ text }) => REPLY.test(text) || HTTP_WORD.test(text) || JMAP_WORD.test(text))
      .map(({ line, text }) => `${path}:${line} ${text.slice(0, 60)}`),
  )
  assert.deepEqual(wrong, [])
})

test('no status code is set below the doors', () => {
  const wrong = mute.flatMap(({ path, numbers }) =>
    numbers
      .filter(
        ({ name, value }) => /^(?:status|statusCode|code|responseCode)$/.test(name) && value >= 200 && value < 600,
      )
      .map(({ line, name, value }) => `${path}:${line} ${name}: ${value}`),
  )
  assert.deepEqual(wrong, [])
})
