// Uploads with a ClamAV daemon: clean files, infected files, and an unavailable scanner.

import assert from 'node:assert/strict'
import { createServer, type Server, type Socket } from 'node:net'
import { after, test } from 'node:test'
import type { AttachmentFile } from '../../src/api/schemas/attachment-file.ts'
import { startAppliance } from '../support/appliance.ts'
import { data, failure, issues } from './expect.ts'

const EICAR = 'X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'

/** Speaks INSTREAM as clamd does, and knows one virus. */
class Daemon {
  scanned: Buffer[] = []
  answer: string | null = null
  readonly #server: Server

  constructor() {
    this.#server = createServer((socket) => this.#talk(socket))
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return (this.#server.address() as { port: number }).port
  }

  close(): void {
    this.#server.close()
  }

  #talk(socket: Socket): void {
    let left = Buffer.alloc(0)
    const pieces: Buffer[] = []
    socket.on('error', () => {})
    socket.on('data', (bytes: Buffer) => {
      left = Buffer.concat([left, bytes])
      if (left.toString('latin1', 0, 10) === 'zINSTREAM\0') left = left.subarray(10)
      while (left.length >= 4 && left.length >= 4 + left.readUInt32BE(0)) {
        const piece = left.subarray(4, 4 + left.readUInt32BE(0))
        left = left.subarray(4 + piece.length)
        pieces.push(piece)
        if (piece.length === 0) this.#verify(socket, Buffer.concat(pieces))
      }
    })
  }

  #verify(socket: Socket, content: Buffer): void {
    this.scanned.push(content)
    const found = content.includes('EICAR') ? 'stream: Eicar-Test-Signature FOUND\0' : 'stream: OK\0'
    socket.end(this.answer ?? found)
  }
}

const daemon = new Daemon()
const port = await daemon.listen()
const appliance = await startAppliance({ env: { CLAMAV_HOST: `127.0.0.1:${port}` } })
after(() => appliance.close())
after(() => daemon.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')

const inJson = (content: string) =>
  appliance.call('POST', '/mailbox/attachments', ana.key, {
    filename: 'a.txt',
    content: Buffer.from(content).toString('base64'),
  })

async function asBytes(content: Buffer) {
  const response = await fetch(`${appliance.origin}/api/v1/mailbox/attachments?filename=a.bin`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ana.key}`, 'content-type': 'application/octet-stream' },
    body: new Uint8Array(content),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

test('clean files are accepted, in JSON and as bytes', async () => {
  const large = Buffer.alloc(3_000_000, 'clean ')
  data<AttachmentFile>(await inJson('clean'), 201)
  const file = data<AttachmentFile>(await asBytes(large), 201)
  assert.equal(file.size_bytes, large.length)
  assert.deepEqual(
    daemon.scanned.map(({ length }) => length),
    [5, large.length],
  )
  assert.ok(daemon.scanned[1]!.equals(large))
})

test('an infected file is rejected with the name of the virus, and not stored', async () => {
  issues(await inJson(EICAR), 422, 'validation_error', ['content forbidden_value'])
  const error = failure(await asBytes(Buffer.from(EICAR)), 422, 'validation_error')
  assert.match(error.message, /Eicar-Test-Signature/)
})

test('without an answer of the scanner nothing is accepted', async () => {
  daemon.answer = 'INSTREAM size limit exceeded. ERROR\0'
  failure(await inJson('clean'), 503, 'service_unavailable')
  daemon.answer = ''
  failure(await inJson('clean'), 503, 'service_unavailable')
  daemon.close()
  failure(await inJson('clean'), 503, 'service_unavailable')
  failure(await asBytes(Buffer.alloc(1_000_000)), 503, 'service_unavailable')
  const account = appliance.app.store.accounts.byMailbox(ana.id)!
  assert.equal(appliance.app.store.edit.uploads.pending(account).files, 2)
})
