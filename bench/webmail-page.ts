// The mail pages as a benchmark uses them: each wait ends with the frame in which the answer was painted.

import type { CDPSession, Page } from 'playwright-core'
import type { WebPage } from '../test/support/chromium.ts'

/** What is opened. */
export interface Mail {
  messages: number
  cookie: string
  mailboxId: string
  /** Of the Inbox. */
  path: string
}

const FRAME_MS = 1000 / 60
/** Rows between two threads that are opened apart: their neighbors, which are read ahead, are not among them. */
const APART = 3

/**
 * In the page: `until(condition)` resolves with the time at which the frame was painted that made the condition true. It is asked after every
 * change of the page and every document of a frame that has loaded.
 */
const TOOLS = `(() => {
  const painted = (resolve) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => resolve(performance.now())
    port2.postMessage(null)
  })
  globalThis.until = (condition, what) => new Promise((resolve, reject) => {
    const ask = () => {
      if (!condition()) return
      end()
      painted(resolve)
    }
    const late = setTimeout(() => { end(); reject(new Error('waited 30 s for ' + what)) }, 30000)
    const observer = new MutationObserver(ask)
    const end = () => { clearTimeout(late); observer.disconnect(); document.removeEventListener('load', ask, true) }
    observer.observe(document, { childList: true, subtree: true, attributes: true })
    document.addEventListener('load', ask, true)
    ask()
  })
  globalThis.anyMoment = () => new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * ${FRAME_MS}))
  globalThis.listBox = () => document.querySelector('div.window-list[role=listbox]')
  globalThis.rows = () => [...document.querySelectorAll('.window-row .thread-row')]
  globalThis.areDrawn = () => rows().length > 0 && document.querySelector('.thread-row.pending') === null
  globalThis.isRead = (before) => {
    const title = document.querySelector('.reader-title h2')
    if (title === null || title === before) return false
    const content = document.querySelector('.message:last-child .message-content')
    if (content === null) return false
    const frames = [...document.querySelectorAll('.message-frame')]
    if (frames.length > 0) return frames.every((frame) => frame.style.height !== '')
    return content.querySelector('.message-text') !== null
  }
  globalThis.press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, code: 'Key' + key.toUpperCase(), bubbles: true, cancelable: true }))
})()`

export interface Opened {
  kind: 'text' | 'html'
  ms: number
}

export class MailPage implements AsyncDisposable {
  readonly #tab: WebPage
  readonly #page: Page
  readonly #session: CDPSession

  private constructor(tab: WebPage, session: CDPSession) {
    this.#tab = tab
    this.#session = session
    this.#page = tab.page
  }

  /** @param slowed times the processor is slowed */
  static async open(tab: WebPage, mail: Mail, slowed: number): Promise<MailPage> {
    await tab.page.addInitScript(TOOLS)
    await tab.page.addInitScript(`globalThis.listed = until(areDrawn, 'the list')`)
    const session = await tab.page.context().newCDPSession(tab.page)
    await session.send('Emulation.setCPUThrottlingRate', { rate: slowed })
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    await tab.goTo(mail.path)
    return new MailPage(tab, session)
  }

  /** ms from the start of the navigation. */
  coldTimes(): Promise<{ painted: number; listed: number }> {
    return this.#page.evaluate(`(async () => {
      const listed = await globalThis.listed
      return { painted: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0, listed }
    })()`)
  }

  /** Moves the scroll bar to other parts of the list. @returns ms until the rows there are drawn */
  jumps(count: number): Promise<number[]> {
    return this.#page.evaluate(`(async () => {
      await globalThis.listed
      const times = []
      for (let n = 0; n < ${count}; n++) {
        const box = listBox()
        const share = ((n * 7 + 3) % ${count}) / ${count} + 0.01
        await anyMoment()
        const start = performance.now()
        box.scrollTop = box.scrollHeight * share
        const total = () => Number(rows()[0]?.getAttribute('aria-setsize') ?? 0)
        const near = () => rows().some((row) => Math.abs(Number(row.getAttribute('aria-posinset')) - share * total()) < 40)
        times.push(await until(() => areDrawn() && near(), 'rows') - start)
      }
      return times
    })()`)
  }

  /** Opens threads that nothing has read ahead. */
  openApart(count: number): Promise<Opened[]> {
    return this.#page.evaluate(`(async () => {
      const opened = []
      for (let n = 0; n < ${count}; n++) {
        const box = listBox()
        box.scrollTop = 40 * box.clientHeight + n * ${APART} * rows()[0].parentElement.offsetHeight
        await anyMoment()
        await until(areDrawn, 'rows')
        const top = box.getBoundingClientRect().top
        const row = rows().find((one) => one.getBoundingClientRect().top >= top)
        const before = document.querySelector('.reader-title h2')
        const start = performance.now()
        row.click()
        const ms = await until(() => isRead(before), 'a thread') - start
        opened.push({ kind: document.querySelector('.message-frame') === null ? 'text' : 'html', ms })
        // A phone shows the list or the thread.
        const isHidden = box.offsetParent === null
        if (isHidden) {
          press('u')
          await until(() => listBox() !== null && listBox().offsetParent !== null && areDrawn(), 'the list')
        }
      }
      return opened
    })()`)
  }

  /** Sets and takes the flag of a row. @returns ms until the frame, and until the page has changed */
  actions(count: number): Promise<{ frame: number[]; work: number[] }> {
    return this.#page.evaluate(`(async () => {
      const times = { frame: [], work: [] }
      const flags = () => document.querySelectorAll('.thread-row .flag-set').length
      listBox().focus()
      for (let n = 0; n < ${count}; n++) {
        const before = flags()
        await anyMoment()
        let changed = 0
        const observer = new MutationObserver(() => { if (flags() !== before) changed ||= performance.now() })
        observer.observe(document, { childList: true, subtree: true })
        const start = performance.now()
        press('s')
        times.frame.push(await until(() => flags() !== before, 'a flag') - start)
        observer.disconnect()
        times.work.push(changed - start)
        await new Promise((resolve) => setTimeout(resolve, 150))
      }
      return times
    })()`)
  }

  /** Writes words letter by letter into the search. @returns ms from each letter until its results are drawn */
  async search(words: readonly string[]): Promise<number[]> {
    const times: number[] = []
    for (const word of words) {
      times.push(
        ...(await this.#page.evaluate<number[]>(`(async () => {
          const times = []
          const field = document.querySelector('[data-search]')
          const write = (text) => {
            field.value = text
            field.dispatchEvent(new Event('input', { bubbles: true }))
          }
          field.focus()
          for (let length = 1; length <= ${word.length}; length++) {
            const before = document.querySelector('.thread-list')
            await anyMoment()
            const start = performance.now()
            write(${JSON.stringify(word)}.slice(0, length))
            const isNew = () => {
              const list = document.querySelector('.thread-list')
              if (new URLSearchParams(location.search).get('q') !== field.value) return false
              return list === null ? document.querySelector('.mail-list .quiet-card') !== null : list !== before && areDrawn()
            }
            times.push(await until(isNew, 'results of ' + field.value) - start)
            await new Promise((resolve) => setTimeout(resolve, 100))
          }
          const before = document.querySelector('.thread-list')
          write('')
          await until(() => location.search === '' && document.querySelector('.thread-list') !== before && areDrawn(), 'the Inbox')
          return times
        })()`)),
      )
    }
    return times
  }

  /** Reads one thread after the other. @returns ms of each, and the heap in MB after so many */
  async readOn(after: readonly number[]): Promise<[times: number[], heap: number[]]> {
    const times: number[] = []
    const heap: number[] = []
    for (const end of after) {
      times.push(
        ...(await this.#page.evaluate<number[]>(`(async () => {
          const times = []
          listBox().focus()
          if (document.querySelector('.reader-title h2') === null) rows()[0].click()
          await until(() => isRead(null), 'a thread')
          for (let n = ${times.length}; n < ${end}; n++) {
            await new Promise((resolve) => setTimeout(resolve, 100))
            const before = document.querySelector('.reader-title h2')
            await anyMoment()
            const start = performance.now()
            press('j')
            times.push(await until(() => isRead(before), 'the next thread') - start)
          }
          return times
        })()`)),
      )
      heap.push((await this.#heap()) / 1e6)
    }
    return [times, heap]
  }

  /** Processor time of the thread of the page for each of some acts, ms. */
  async costOf<T>(acts: number, run: () => Promise<T>): Promise<[result: T, cost: number]> {
    const before = await this.#processorMs()
    const result = await run()
    return [result, ((await this.#processorMs()) - before) / acts]
  }

  async #processorMs(): Promise<number> {
    const { metrics } = await this.#session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1000
  }

  /** ms of frames in which nothing happens: what the machine and the clock of the screen add to every figure. */
  emptyFrames(count: number): Promise<number[]> {
    return this.#page.evaluate(`(async () => {
      const times = []
      for (let n = 0; n < ${count}; n++) {
        await anyMoment()
        const start = performance.now()
        times.push(await until(() => true, 'nothing') - start)
      }
      return times
    })()`)
  }

  async #heap(): Promise<number> {
    await this.#session.send('HeapProfiler.collectGarbage')
    const { usedSize } = (await this.#session.send('Runtime.getHeapUsage')) as { usedSize: number }
    return usedSize
  }

  async close(): Promise<void> {
    await this.#tab.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
