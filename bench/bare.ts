// The baseline for reading: a bare Koa route that returns given bytes.

import { once } from 'node:events'
import process from 'node:process'
import Koa from 'koa'

const [{ body }] = (await once(process, 'message')) as [{ body: Uint8Array }]
const app = new Koa()
app.use((context) => {
  context.type = 'application/json; charset=utf-8'
  context.body = Buffer.from(body)
})
const server = app.listen(0, '127.0.0.1', () => {
  process.send!({ port: (server.address() as { port: number }).port })
})
process.on('SIGTERM', () => process.exit(0))
