// Expands shorthands to longhands, as far as these are used.

const SIDES: Readonly<Record<string, readonly string[]>> = {
  inset: ['top', 'right', 'bottom', 'left'],
  margin: ['margin-top', 'margin-right', 'margin-bottom', 'margin-left'],
}
const PAIRS: Readonly<Record<string, readonly [string, string]>> = {
  'inset-inline': ['left', 'right'],
  'inset-block': ['top', 'bottom'],
  'margin-inline': ['margin-left', 'margin-right'],
  'margin-block': ['margin-top', 'margin-bottom'],
  overflow: ['overflow-x', 'overflow-y'],
}
const WIDE = /^(?:inherit|initial|unset|revert)$/

export function expanded(name: string, value: string): [name: string, value: string][] {
  const sides = SIDES[name]
  if (sides !== undefined) {
    const [top, right = top, bottom = top, left = right] = partsOf(value)
    return [top, right, bottom, left].map((each, at) => [sides[at]!, each!])
  }
  const pair = PAIRS[name]
  if (pair !== undefined) {
    const [first, second = first] = partsOf(value)
    return [
      [pair[0], first!],
      [pair[1], second!],
    ]
  }
  if (name === 'font') return [['font-size', WIDE.test(value) ? value : fontSizeOf(value)]]
  if (name === 'background') return backgroundOf(value)
  return [[name, value]]
}

/** Parts separated by spaces outside brackets. */
export function partsOf(value: string): string[] {
  const parts: string[] = ['']
  let depth = 0
  for (const character of value) {
    if (character === '(') depth++
    if (character === ')') depth--
    if (character === ' ' && depth <= 0) parts.push('')
    else parts[parts.length - 1] += character
  }
  return parts.filter((part) => part !== '')
}

/** The size is the first part with a unit; weights have no unit. */
function fontSizeOf(value: string): string {
  const size = partsOf(value).find((part) =>
    /^(?:[+]?[\d.]+(?:e[+-]?\d+)?(?:%|[a-z]+)|[+]?0[.0]*(?=\/|$)|(?:calc|min|max|clamp)\()/.test(part),
  )
  return size === undefined ? 'medium' : size.split('/', 1)[0]!
}

function backgroundOf(value: string): [string, string][] {
  if (WIDE.test(value)) {
    return [
      ['background-color', value],
      ['background-image', value],
    ]
  }
  const isPicture = (part: string) =>
    /^(?:url|[a-z-]*gradient|image-set|-webkit-image-set|cross-fade|element)\(/.test(part)
  // Only the last background layer has a colour.
  const parts = partsOf(value.replace(/,(?![^(]*\))/g, ' '))
  const colour = parts.findLast(
    (part) => /^#|^[a-z]+\((?!\))|^[a-z]+$/.test(part) && !isPicture(part) && !WORDS.has(part.split('(')[0]!),
  )
  return [
    ['background-color', colour ?? 'initial'],
    ['background-image', parts.find(isPicture) ?? 'none'],
  ]
}

/** Keywords of a background that are not colours. */
const WORDS = new Set(
  (
    'none repeat repeat-x repeat-y no-repeat space round scroll fixed local left right top bottom center cover contain auto ' +
    'border-box padding-box content-box text calc min max clamp'
  ).split(' '),
)
