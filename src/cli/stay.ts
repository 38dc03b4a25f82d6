/** A command that started a service hands it over here; the process ends it in good order on a signal. */

export interface Service {
  close(): Promise<void>;
}

let service: Service | null = null;

export function stay(started: Service): void {
  service = started;
}

export function staying(): Service | null {
  return service;
}
