// Libraries of which the sources use or override what is not public: pinned to the one version that was read, with the members that are used.
//
// Before an upgrade: read what changed in the members named here and what it means for our overrides, and only then write the new version.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { test } from 'node:test'
import charset from 'libmime/lib/charset.js'
import arc from 'mailauth/lib/arc/index.js'
import dmarc from 'mailauth/lib/dmarc/index.js'
import spf from 'mailauth/lib/spf/index.js'
import tools from 'mailauth/lib/tools.js'
import { SMTPServer } from 'smtp-server'
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js'
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js'
import { ROOT, sources } from '../support/source.ts'

interface Manifest {
  version: string
  dependencies: Record<string, string>
}

/** Published entry points of a package beside its main one. */
const PUBLIC_ENTRIES =
  /^(?:typebox\/(?:format|system|value|compile|error)|altcha-lib\/algorithms\/pbkdf2|culori\/css|css-tree\/dist\/csstree\.esm|@simplewebauthn\/server\/helpers|@modelcontextprotocol\/server\/stdio)$/

const PINNED = { 'smtp-server': '3.21.6', mailauth: '7.1.0', libmime: '5.4.4', imapflow: '2.10.2' }

/** The names that are no functions of an object. */
function missing(owner: object, names: readonly string[]): string[] {
  return names.filter((name) => typeof Reflect.get(owner, name) !== 'function')
}

const readJson = (...path: string[]) => JSON.parse(readFileSync(join(ROOT, ...path), 'utf8')) as Manifest

test('they are pinned to the version that was read, and that one is installed', () => {
  const { dependencies } = readJson('package.json')
  for (const [name, version] of Object.entries(PINNED)) {
    assert.equal(dependencies[name], version)
    assert.equal(readJson('node_modules', name, 'package.json').version, version)
  }
})

test('no other package is entered through its inner files', () => {
  const wrong = sources().flatMap(({ path, imports }) =>
    imports
      .map(({ specifier }) => specifier)
      .filter((specifier) => /^(?:@[\w-]+\/)?[a-z][\w.-]*\/./.test(specifier) && !/^@[\w-]+\/[\w.-]+$/.test(specifier))
      .filter((specifier) => !(specifier.split('/')[0]! in PINNED) && !PUBLIC_ENTRIES.test(specifier))
      .map((specifier) => `${path}: ${specifier}`),
  )
  assert.deepEqual(wrong, [])
})

test('smtp-server: the methods that the session and the command reader override or call', () => {
  const ofConnection = [
    ...['init', 'close', 'send', 'upgrade'],
    ...[
      'handler_MAIL',
      'handler_RCPT',
      'handler_DATA',
      'handler_STARTTLS',
      'handler_AUTH',
      'handler_VRFY',
      'handler_HELP',
    ],
    ...['_armTimeout', '_createParser', '_onClose', '_onCommand', '_resetSession'],
  ]
  assert.deepEqual(missing(SMTPConnection.prototype, ofConnection), [])
  const ofStream = ['continue', 'startDataMode', '_countDataBytes', '_endDataMode', '_write']
  assert.deepEqual(missing(SMTPStream.prototype, ofStream), [])
})

test('smtp-server: the members of a connection that the session reads', () => {
  const server = new SMTPServer({ authOptional: true, disableReverseLookup: true, disabledCommands: ['STARTTLS'] })
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() }) as Socket
  const connection = new SMTPConnection(server, socket, { remoteAddress: '192.0.2.1', remotePort: 1 })
  const members = [
    '_socket',
    '_parser',
    '_dataStream',
    '_handlerPending',
    '_upgrading',
    'secure',
    'remoteAddress',
    'hostNameAppearsAs',
    'openingCommand',
    '_nextHandler',
    'session',
  ]
  const found = members.map((name) => [name, typeof Reflect.get(connection, name)])
  assert.deepEqual(Object.fromEntries(found), {
    _socket: 'object',
    _parser: 'object',
    _dataStream: 'boolean',
    _handlerPending: 'boolean',
    _upgrading: 'boolean',
    secure: 'boolean',
    remoteAddress: 'string',
    hostNameAppearsAs: 'boolean',
    openingCommand: 'boolean',
    _nextHandler: 'boolean',
    session: 'object',
  })
  const stream = new SMTPStream()
  const ofStream = ['isClosed', '_dataMode', '_dataStream', 'oncommand']
  assert.deepEqual(Object.fromEntries(ofStream.map((name) => [name, typeof Reflect.get(stream, name)])), {
    isClosed: 'boolean',
    _dataMode: 'boolean',
    _dataStream: 'object',
    oncommand: 'function',
  })
})

test('mailauth: the checks that are taken one by one', () => {
  assert.deepEqual(missing(arc, ['arc', 'getARChain', 'verifyASChain']), [])
  assert.deepEqual(missing(spf, ['spf']), [])
  assert.deepEqual(missing(dmarc, ['evaluateDmarc']), [])
  assert.deepEqual(missing(tools, ['toALabel', 'getAlignment', 'formatDomain']), [])
})

test('libmime: the decoders of character sets', () => {
  assert.deepEqual(missing(charset, ['normalizeCharset', 'decode']), [])
})
