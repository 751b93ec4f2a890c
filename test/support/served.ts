// The appliance as a process of its own, its workers in threads, as an operator starts it.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { FREE_PORTS } from './free-ports.ts'
import { PROGRAM } from './program.ts'
import { ROOT } from './source.ts'

/** Settings of an appliance on loopback; ports are chosen by the system unless `more` names them. */
export function servedEnv(dataDir: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    ...{
      DATA_DIR: dataDir,
      ...FREE_PORTS,
    },
    ...{ SMTP_BIND: '127.0.0.1', HTTP_BIND: '127.0.0.1', APP_ORIGIN: 'http://app.sending.test' },
    ...{ SEND_ORIGIN: 'http://send.sending.test', MAIL_HOSTS: 'mx.mailstead.test', LOG_LEVEL: 'info' },
    ...more,
  }
}

/** Starts the process and waits until it is ready. */
export async function serve(env: Record<string, string>): Promise<ChildProcess> {
  const child = spawn(process.execPath, [PROGRAM, 'serve'], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout!.setEncoding('utf8')
  let output = ''
  for await (const text of child.stdout!.iterator({ destroyOnReturn: false })) {
    output += text
    if (output.includes('Mailstead is open')) {
      child.stdout!.resume()
      return child
    }
  }
  return assert.fail(`the appliance did not start:\n${output}`)
}
