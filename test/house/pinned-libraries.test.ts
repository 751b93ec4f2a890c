// Libraries of which the sources use or override what is not public: pinned to one version, and each such part compared with the one that was read.
//
// After an upgrade: read what changed in the members named by the failing test and what it means for our overrides, and only then write the
// new version and fingerprints here.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
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
  /^(?:typebox\/(?:format|system|value|compile|error)|altcha-lib\/algorithms\/pbkdf2|culori\/css|css-tree\/dist\/csstree\.esm|@simplewebauthn\/server\/helpers)$/

const PINNED = { 'smtp-server': '3.21.6', mailauth: '7.1.0', libmime: '5.4.4', imapflow: '2.10.2' }

/** SHA-256 of the source of a function, its beginning. */
function fingerprint(value: unknown): string {
  if (typeof value !== 'function') return typeof value
  return createHash('sha256').update(value.toString()).digest('hex').slice(0, 12)
}

function fingerprints(owner: object, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, fingerprint(Reflect.get(owner, name))]))
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
  assert.deepEqual(
    {
      connection: fingerprints(SMTPConnection.prototype, [
        'constructor',
        'init',
        'close',
        'send',
        'handler_MAIL',
        'handler_RCPT',
        'handler_DATA',
        'handler_STARTTLS',
        'handler_AUTH',
        'handler_VRFY',
        'handler_HELP',
        '_armTimeout',
        '_createParser',
        '_onClose',
        '_onCommand',
        '_resetSession',
        'upgrade',
      ]),
      stream: fingerprints(SMTPStream.prototype, [
        'constructor',
        'continue',
        'startDataMode',
        '_countDataBytes',
        '_endDataMode',
        '_write',
      ]),
    },
    {
      connection: {
        constructor: 'aaa042191b73',
        init: '1265a7d7ca8f',
        close: '4b80aaabd134',
        send: 'c33568c0111a',
        handler_MAIL: 'a40618dd2e16',
        handler_RCPT: 'ef2acd7214ea',
        handler_DATA: '9eceecf35f56',
        handler_STARTTLS: '54e8a7f36219',
        handler_AUTH: '2533179c785e',
        handler_VRFY: 'bf60f9186fa3',
        handler_HELP: 'cfe86be96885',
        _armTimeout: 'b8bc04964752',
        _createParser: '15ca8c360137',
        _onClose: '097b8d221da5',
        _onCommand: '41c8a1b7a32a',
        _resetSession: '2bf7682ca138',
        upgrade: '6a3fa8a3ee41',
      },
      stream: {
        constructor: '448a713e7d6e',
        continue: 'ce5856923c79',
        startDataMode: 'd007d5db8cb9',
        _countDataBytes: '4b938ebe6c99',
        _endDataMode: '7de0cf3d0671',
        _write: 'a72635ce53e2',
      },
    },
  )
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
  assert.deepEqual(
    {
      arc: fingerprints(arc, ['arc', 'getARChain', 'verifyASChain']),
      spf: fingerprints(spf, ['spf']),
      dmarc: fingerprints(dmarc, ['evaluateDmarc']),
      tools: fingerprints(tools, ['toALabel', 'getAlignment', 'formatDomain']),
    },
    {
      arc: { arc: '890027232acf', getARChain: '6dffb68e8329', verifyASChain: '766f8cac9335' },
      spf: { spf: 'b68d090a8f40' },
      dmarc: { evaluateDmarc: '5ca4aae5353b' },
      tools: { toALabel: 'b7acb7ed540a', getAlignment: '6cea4382d2c5', formatDomain: 'c7a353977c94' },
    },
  )
})

test('libmime: the decoders of character sets', () => {
  assert.deepEqual(fingerprints(charset, ['normalizeCharset', 'decode']), {
    normalizeCharset: '551051b1185e',
    decode: '933e7a01ca5f',
  })
})
