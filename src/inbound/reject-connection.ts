// Refuses a connection before its session: the reply, and the end.

import type { Socket } from 'node:net'
import { line, type SmtpReply } from '../smtp/replies.ts'

export function rejectConnection(socket: Socket, reply: SmtpReply): void {
  if (socket.destroyed) return
  socket.end(`${line(reply)}\r\n`)
  // Unread bytes would reset the connection, and the reply could be lost.
  socket.resume()
  socket.destroySoon()
}
