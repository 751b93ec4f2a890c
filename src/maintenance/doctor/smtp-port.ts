// Checks that the SMTP port greets and offers STARTTLS.

import { connect } from 'node:net'
import type { Config } from '../../config/config.ts'
import { type Finding, failing, fine, warning } from './finding.ts'

const TIMEOUT_MS = 5000
/** Characters of the dialogue that are read. */
export const DIALOGUE_MAX = 8192
/** Where a listener on all addresses is reached from here. */
export const WILDCARDS = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])

/** How the dialogue ended, and all the server said. */
interface Dialogue {
  said: string
  /** A code of Node (`ECONNREFUSED`), `timeout` or `flood`; null when it was brought to its end. */
  failure: string | null
}

export async function checkSmtp(config: Config, timeoutMs = TIMEOUT_MS): Promise<Finding> {
  const host = WILDCARDS.get(config.SMTP_BIND) ?? config.SMTP_BIND
  const where = `Port ${config.SMTP_PORT}`
  const { said, failure } = await converse(host, config.SMTP_PORT, timeoutMs)
  if (failure === 'ECONNREFUSED') {
    return warning('smtp', `${where} is closed: the appliance does not run.`, 'Start it with mailstead serve.')
  }
  if (!/^220[ -]/.test(said)) {
    const proxied = config.PROXY_PROTOCOL_FROM.length > 0
    const says = `${where} does not greet as a mail server (${failure ?? 'another reply'}).`
    const advice = proxied
      ? 'If PROXY_PROTOCOL_FROM includes this machine, this is expected: check through the proxy.'
      : 'Check the log of the appliance, and whether another program uses the port.'
    return proxied ? warning('smtp', says, advice) : failing('smtp', says, advice)
  }
  if (!/^250[ -]STARTTLS\r?$/im.test(said)) {
    const says = `${where} answers, but offers no STARTTLS (${failure ?? 'missing in its list'}).`
    return failing('smtp', says, 'Check whether a proxy or firewall removes STARTTLS.')
  }
  return fine('smtp', `${where} greets and offers STARTTLS.`)
}

/** Waits for the greeting, says EHLO, reads the list and takes its leave. @param timeoutMs for all of it */
export function converse(host: string, port: number, timeoutMs: number): Promise<Dialogue> {
  return new Promise((done) => {
    let said = ''
    let step = 0
    const socket = connect({ host, port })
    const end = (failure: string | null) => {
      clearTimeout(timer)
      socket.destroy()
      done({ said, failure })
    }
    // Of the whole dialogue: a server that drips one byte a second must not hold us.
    const timer = setTimeout(() => end('timeout'), timeoutMs)
    socket.setEncoding('latin1')
    socket.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? 'error'))
    socket.on('close', () => end('closed'))
    socket.on('data', (text: string) => {
      said += text
      if (said.length > DIALOGUE_MAX) return end('flood')
      const ends = said.match(/^\d{3} [^\n]*\n|^\d{3}\r?\n/gm)?.length ?? 0
      if (ends > step) {
        step = ends
        if (step === 1) socket.write('EHLO doctor.invalid\r\n')
        else socket.end('QUIT\r\n', () => end(null))
      }
    })
  })
}
