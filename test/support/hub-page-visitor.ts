/** Somebody who looks at the hub's pages without scripts: keeps cookies, and sends the forms that were shown. */
import supertest, { type Response } from "supertest";

type Fields = Record<string, string | string[]>;
type Headers = Record<string, string>;

/** What a browser says of a request that a page of ours makes. */
export const FROM_OUR_PAGE: Headers = { "sec-fetch-site": "same-origin" };

export function visitorOf(url: string) {
  const jar = new Map<string, string>();
  const keep = (response: Response) => {
    for (const cookie of ([response.headers["set-cookie"]].flat() as (string | undefined)[]) ?? []) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie ?? "") ?? [];
      if (name !== undefined) jar.set(name, value ?? "");
    }
    return response;
  };
  const cookie = () => [...jar].map((pair) => pair.join("=")).join("; ");
  const visitor = {
    jar,
    cookie,
    async get(path: string, headers: Headers = {}): Promise<Response> {
      return keep(
        await supertest(url)
          .get(path)
          .set({ cookie: cookie(), ...headers }),
      );
    },
    /** The token that stands in the forms of this session. */
    async csrf(): Promise<string> {
      const { text } = await visitor.get("/settings/webhooks/new");
      const { text: login } = text.includes('name="csrf"') ? { text } : await visitor.get("/login");
      return /name="csrf" value="([^"]+)"/.exec(login)?.[1] ?? "";
    },
    /** Posts a form as it is, with no more than these fields. */
    async post(path: string, fields: Fields, headers: Headers = FROM_OUR_PAGE): Promise<Response> {
      const body = new URLSearchParams();
      for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) body.append(name, one);
      return keep(
        await supertest(url)
          .post(path)
          .set({ cookie: cookie(), "content-type": "application/x-www-form-urlencoded", ...headers })
          .send(body.toString()),
      );
    },
    /** Posts a form of ours, with its token. */
    async submit(path: string, fields: Fields = {}): Promise<Response> {
      return visitor.post(path, { csrf: await visitor.csrf(), ...fields });
    },
    async logIn(token: string): Promise<Response> {
      return visitor.submit("/login", { token });
    },
  };
  return visitor;
}
