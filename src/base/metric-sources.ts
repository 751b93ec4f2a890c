// The metrics that modules count while they run; those that are read from the database at each scrape are not here.

/** Counted values in the Prometheus text format; a `Registry` of prom-client is one. */
export interface MetricSource {
  metrics(): Promise<string>
}

/** The sources of this process. */
export class MetricSources {
  readonly #sources: MetricSource[] = []

  add(source: MetricSource): void {
    this.#sources.push(source)
  }

  /** The text of each source. */
  texts(): Promise<string[]> {
    return Promise.all(this.#sources.map((source) => source.metrics()))
  }
}
