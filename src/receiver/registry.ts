/** The endpoints of one receiver, by name, and what could not become one. */
import { StartError } from "../errors.ts";
import type { Endpoint } from "./endpoint.ts";
import type { BrokenHandler } from "./load-handlers.ts";

export class Registry {
  readonly broken: BrokenHandler[] = [];
  readonly #endpoints = new Map<string, Endpoint>();

  get(name: string): Endpoint | undefined {
    return this.#endpoints.get(name);
  }

  list(): Endpoint[] {
    return [...this.#endpoints.values()];
  }

  /** @throws StartError when the name is taken. */
  add(endpoint: Endpoint): void {
    if (this.#endpoints.has(endpoint.name)) {
      const problem = `POST ${endpoint.path} has a handler already: give one of the two another name`;
      throw new StartError("A webhook cannot be added twice:", [problem]);
    }
    this.#endpoints.set(endpoint.name, endpoint);
  }

  replace(endpoint: Endpoint): void {
    this.#endpoints.set(endpoint.name, endpoint);
  }
}
