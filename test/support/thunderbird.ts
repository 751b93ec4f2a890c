// Thunderbird without a display, spoken to by Marionette (the protocol of its own tests): scripts run inside of it with its own modules.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { missingProgram } from './programs.ts'

const SCRIPT_MS = 300_000
/** Scripts with the rights of the program; what one sets in `globalThis` the next one finds. */
const SANDBOX = 'system'
/** Nothing is asked of other servers, and no page is opened by itself. */
const PREFERENCES = {
  ...{ 'marionette.port': 0, 'remote.prefs.recommended': true, 'app.update.enabled': false },
  ...{ 'datareporting.policy.dataSubmissionEnabled': false, 'toolkit.telemetry.enabled': false },
  ...{ 'mailnews.start_page.enabled': false, 'mail.shell.checkDefaultClient': false, 'mailnews.auto_config_url': '' },
  ...{ 'network.captive-portal-service.enabled': false, 'network.connectivity-service.enabled': false },
  ...{ 'mail.provider.suppress_dialog_on_startup': true, 'app.normandy.enabled': false },
  ...{ 'extensions.update.enabled': false, 'browser.safebrowsing.enabled': false },
  ...{ 'services.settings.server': 'data:,#remote-settings-dummy/v1', 'mail.biff.show_alert': false },
}

/** For node:test's `skip`. */
export function thunderbirdMissing(): false | string {
  return missingProgram('thunderbird', ['--version']) || missingProgram('certutil')
}

export interface ThunderbirdSetup {
  /** An empty folder; one that is deleted in the end by default. */
  home?: string
  /** PEM file of an authority to trust; every certificate is accepted without one. */
  authority?: string
  /** Beside those that keep it quiet. */
  preferences?: Record<string, string | number | boolean>
}

export class Thunderbird implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #made: string | null
  readonly #socket: Socket
  readonly #replies = new Map<number, (reply: unknown[]) => void>()
  #received = Buffer.alloc(0)
  #count = 0

  /** @param made the folder that goes with it */
  private constructor(child: ChildProcess, socket: Socket, made: string | null) {
    this.#child = child
    this.#made = made
    this.#socket = socket
    socket.on('data', (bytes: Buffer) => this.#receive(bytes))
    socket.on('close', () => {
      for (const reply of this.#replies.values()) reply([1, 0, { message: 'Thunderbird has ended' }, null])
    })
  }

  /** Starts it with an empty profile, in a folder of its own unless one is given. */
  static async start({ home, authority, preferences = {} }: ThunderbirdSetup): Promise<Thunderbird> {
    const made = home === undefined ? await mkdtemp(join(tmpdir(), 'mailstead-thunderbird-')) : null
    const folder = home ?? made!
    const profile = join(folder, 'profile')
    await mkdir(profile)
    if (authority !== undefined) await trust(profile, authority)
    const lines = Object.entries({ ...PREFERENCES, ...preferences }).map(
      (pair) => `user_pref(${pair.map((one) => JSON.stringify(one)).join()});`,
    )
    await writeFile(join(profile, 'user.js'), lines.join('\n'))
    const args = ['--headless', '--no-remote', '--marionette', '--remote-allow-system-access', '--profile', profile]
    // A group of its own: the program starts others.
    const child = spawn('thunderbird', args, { env: { ...process.env, HOME: folder }, stdio: 'ignore', detached: true })
    try {
      const socket = connect(await portOf(profile, child), '127.0.0.1')
      const [greeting] = (await once(socket, 'data')) as [Buffer]
      if (!greeting.includes('marionetteProtocol')) throw new Error(greeting.toString())
      const thunderbird = new Thunderbird(child, socket, made)
      await thunderbird.#send('WebDriver:NewSession', { acceptInsecureCerts: authority === undefined })
      await thunderbird.#send('Marionette:SetContext', { value: 'chrome' })
      await thunderbird.#send('WebDriver:SetTimeouts', { script: SCRIPT_MS })
      return thunderbird
    } catch (error) {
      await end(child, made)
      throw error
    }
  }

  /** Runs the body of an async function that knows `args`. @returns its result, by JSON @throws Error of the script */
  async run<T>(body: string, ...args: unknown[]): Promise<T> {
    const ends = 'then((value) => done({ value }), (error) => done({ error: String(error) + error.stack }))'
    const script = `const args = [...arguments], done = args.pop(); (async () => { ${body} })().${ends}`
    const { value } = (await this.#send('WebDriver:ExecuteAsyncScript', { script, args, sandbox: SANDBOX })) as {
      value: { value: T; error?: string }
    }
    if (value.error !== undefined) throw new Error(value.error)
    return value.value
  }

  #send(command: string, parameters: object): Promise<unknown> {
    const id = ++this.#count
    const text = JSON.stringify([0, id, command, parameters])
    this.#socket.write(`${Buffer.byteLength(text)}:${text}`)
    return new Promise((resolve, reject) => {
      this.#replies.set(id, ([, , error, result]) => {
        this.#replies.delete(id)
        if (error) reject(new Error(JSON.stringify(error)))
        else resolve(result)
      })
    })
  }

  #receive(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes])
    for (;;) {
      const at = this.#received.indexOf(':')
      const end = at + 1 + Number(this.#received.toString('latin1', 0, Math.max(at, 0)))
      if (at < 0 || this.#received.length < end) return
      const reply = JSON.parse(this.#received.toString('utf8', at + 1, end)) as unknown[]
      this.#received = this.#received.subarray(end)
      this.#replies.get(reply[1] as number)?.(reply)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy()
    await end(this.#child, this.#made)
  }
}

/** Lets the certificates of an authority pass. */
async function trust(profile: string, authority: string): Promise<void> {
  const run = promisify(execFile)
  await run('certutil', ['-N', '-d', `sql:${profile}`, '--empty-password'])
  await run('certutil', ['-A', '-d', `sql:${profile}`, '-n', 'test', '-t', 'C,,', '-i', authority])
}

async function end(child: ChildProcess, made: string | null): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit')
    process.kill(-child.pid!, 'SIGKILL')
    await ended
  }
  if (made !== null) await rm(made, { recursive: true, force: true, maxRetries: 5 })
}

/** Waits for the file in which Thunderbird names its port. */
async function portOf(profile: string, child: ChildProcess): Promise<number> {
  const file = join(profile, 'MarionetteActivePort')
  const read = async () => Number(await readFile(file, 'utf8').catch(() => '0'))
  const changes = watch(profile)
  try {
    return await new Promise<number>((resolve, reject) => {
      const look = () => void read().then((port) => port > 0 && resolve(port))
      changes.on('change', look)
      child.once('exit', () => reject(new Error('Thunderbird has ended.')))
      look()
    })
  } finally {
    changes.close()
  }
}
