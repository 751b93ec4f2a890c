// Reads metrics in the text format of Prometheus (prometheus.io/docs/instrumenting/exposition_formats).

export interface Metric {
  name: string
  /** "p50", "status=stored, reason=none"; empty without labels. */
  labels: string
  value: number
  /** What it counts, in a sentence. */
  help: string
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

/** Lines that are no samples are left out. */
export function readMetrics(text: string): Metric[] {
  const help = new Map<string, string>()
  const metrics: Metric[] = []
  for (const line of text.split('\n')) {
    const [, helped, sentence] = /^# HELP (\S+) (.*)$/.exec(line) ?? []
    if (helped !== undefined && sentence !== undefined) help.set(helped, sentence)
    const [, name, labels = '', value] = SAMPLE.exec(line) ?? []
    if (name === undefined || line.startsWith('#')) continue
    const named = [...labels.matchAll(LABEL)].map(([, label, content]) => `${label}=${content}`)
    metrics.push({ name, labels: named.join(', '), value: Number(value), help: help.get(name) ?? '' })
  }
  return metrics
}

/** The value of a metric without labels, or with these; undefined when it is not there. */
export function findValue(metrics: readonly Metric[], name: string, labels = ''): number | undefined {
  return metrics.find((metric) => metric.name === name && metric.labels === labels)?.value
}
