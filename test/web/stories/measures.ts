// The measures of the design, on the pages that have a picture: sizes, places and tokens, which are the same with every font.

import assert from 'node:assert/strict'
import type { WebPage } from '../../support/chromium.ts'
import type { Story } from '../story.ts'
import type { WebAppliance } from '../web-appliance.ts'

/** What a picture fixes of one element; lengths in CSS pixels. */
interface Measure {
  /** The first match. */
  at: string
  left?: number
  top?: number
  /** From the right edge of the window. */
  right?: number
  width?: number
  height?: number
  /** Computed style. */
  css?: Readonly<Record<string, string>>
}

interface Picture {
  name: string
  path: string
  view: 'light' | 'dark' | 'phone'
  /** Without a session. */
  isOpen?: boolean
  measures: readonly Measure[]
}

/** Borders and half pixels of a scaled line. */
const TOLERANCE = 1

const FRAME: readonly Measure[] = [
  { at: '.console-bar', left: 0, top: 0, height: 52 },
  { at: '.console-side', left: 0, top: 52, width: 216, css: { 'background-color': 'rgb(245, 246, 248)' } },
  { at: '.side-link', left: 8, height: 32, css: { 'border-radius': '6px' } },
  { at: '.bar-search', width: 304, height: 32 },
  { at: 'h1', left: 248, css: { 'font-size': '22px', 'line-height': '28px', 'font-weight': '600' } },
]

const PICTURES: readonly Picture[] = [
  {
    name: '01 overview',
    path: '/console/{team}',
    view: 'light',
    measures: [
      ...FRAME,
      { at: '.page-title', top: 76, height: 32 },
      { at: '.figure', height: 112, css: { 'padding-inline-start': '20px' } },
      { at: '.figure-value', height: 36, css: { 'font-size': '28px', 'letter-spacing': '-0.56px' } },
      { at: '.chart', height: 196 },
      { at: '.columns > :last-child', width: 344, right: 32 },
      { at: '.step-row', height: 32 },
      { at: '.card', css: { 'border-radius': '10px', 'border-top-color': 'rgb(221, 225, 231)', 'box-shadow': 'none' } },
      { at: '.step-open .button.primary', height: 28, css: { 'background-color': 'rgb(29, 91, 184)' } },
      { at: '.step-open .button.secondary', height: 28 },
    ],
  },
  {
    name: '02 domain',
    path: '/console/{team}/domains/{domain}',
    view: 'light',
    measures: [
      { at: '.crumb', top: 72, left: 248 },
      { at: 'h1', left: 248, height: 28 },
      { at: '.columns > :last-child', width: 264, right: 32 },
      { at: '.records td:nth-child(2)', left: 288 },
      { at: '.records tbody tr', height: 52 },
      { at: '.compare', left: 288, css: { 'border-radius': '10px' } },
      { at: '.compare-head', css: { 'background-color': 'rgb(251, 241, 223)' } },
      { at: 'del', css: { 'text-decoration-line': 'line-through', color: 'rgb(179, 38, 30)' } },
      { at: 'ins', css: { 'font-weight': '600', color: 'rgb(26, 107, 58)' } },
    ],
  },
  {
    name: '03 delivery',
    path: '/console/{team}/delivery',
    view: 'light',
    measures: [
      { at: '.page-title', top: 76, height: 32 },
      { at: '.filters', top: 124, height: 32 },
      { at: '.filters .input', width: 336, height: 32, css: { 'border-top-color': 'rgb(125, 132, 144)' } },
      { at: '.table thead', height: 32 },
      { at: '.table th', css: { 'font-size': '12px', 'font-weight': '500', color: 'rgb(86, 93, 104)' } },
      { at: '.table tbody tr', height: 40 },
    ],
  },
  {
    name: '03 delivery, dark',
    path: '/console/{team}/delivery',
    view: 'dark',
    measures: [
      { at: 'html', css: { 'background-color': 'rgb(20, 22, 26)', color: 'rgb(232, 234, 237)' } },
      { at: '.console-side', css: { 'background-color': 'rgb(27, 30, 35)' } },
      { at: '.side-link[aria-current]', css: { 'background-color': 'rgb(33, 49, 79)', 'font-weight': '600' } },
    ],
  },
  {
    name: '10 sign-in',
    path: '/sign-in',
    view: 'light',
    isOpen: true,
    measures: [
      { at: '.alone-card', width: 400, left: 520, css: { 'border-radius': '10px' } },
      { at: '.button.touch', width: 350, height: 44 },
      { at: '.alone-card .input', width: 350, height: 40 },
      { at: '.mark', width: 44, height: 44 },
      { at: '.alone', css: { 'background-color': 'rgb(245, 246, 248)' } },
    ],
  },
  {
    name: 'phone',
    path: '/console/{team}/domains',
    view: 'phone',
    measures: [
      { at: 'h1', left: 20 },
      { at: '.console-bar', height: 52 },
      { at: '.page-actions .button', height: 44 },
      { at: '.filters .input', left: 20, right: 20, height: 44 },
      { at: '.console-side', width: 0 },
    ],
  },
  {
    name: 'phone, a log',
    path: '/console/{team}/inbound',
    view: 'phone',
    measures: [{ at: 'td.cut', left: 20, width: 350 }],
  },
]

export const measureStories: readonly Story[] = [
  { name: 'pages have the measures and tokens of their pictures, in light, in dark, on a phone', run: measureAll },
]

async function measureAll(web: WebAppliance): Promise<void> {
  const [own, open] = [await web.open(web.owner), await web.open(null)]
  const wrong: string[] = []
  for (const { name, path, view, isOpen, measures } of PICTURES) {
    const tab = isOpen === true ? open : own
    await tab.showAs(view)
    await tab.goTo(web.pathOf(path))
    for (const measure of measures) wrong.push(...(await differences(tab, measure)).map((text) => `${name}: ${text}`))
  }
  assert.deepEqual(wrong, [])
  await Promise.all([own.close(), open.close()])
}

async function differences({ page }: WebPage, { at, css = {}, ...lengths }: Measure): Promise<string[]> {
  await page.locator(at).first().waitFor({ state: 'attached' })
  const { box, style } = (await page.evaluate(
    `(() => {
      const element = document.querySelector(${JSON.stringify(at)})
      const { left, top, right, width, height } = element.getBoundingClientRect()
      const style = getComputedStyle(element)
      const values = ${JSON.stringify(Object.keys(css))}.map((name) => [name, style.getPropertyValue(name)])
      return { box: { left, top, width, height, right: innerWidth - right }, style: Object.fromEntries(values) }
    })()`,
  )) as { box: Record<string, number>; style: Record<string, string> }
  return [
    ...Object.entries(lengths).flatMap(([name, wanted]) =>
      Math.abs(box[name]! - wanted) <= TOLERANCE ? [] : [`${at} has ${name} ${box[name]}, not ${wanted}`],
    ),
    ...Object.entries(css).flatMap(([name, wanted]) =>
      style[name] === wanted ? [] : [`${at} has ${name} ${style[name]}, not ${wanted}`],
    ),
  ]
}
