// Motions of the Poincaré disc: z → (a z + b)/(b̄ z + ā), |a|² − |b|² = 1, kept as [a, b] in four numbers.

const STILL = [1, 0, 0, 0];

// First `m`, then `n`.
function after(n, m) {
  const [a, b, c, d] = n, [e, f, g, h] = m;
  const out = [
    a * e - b * f + c * g + d * h, a * f + b * e + d * g - c * h,
    a * g - b * h + c * e + d * f, a * h + b * g + d * e - c * f,
  ];
  const s = 1 / Math.sqrt(Math.max(out[0] ** 2 + out[1] ** 2 - out[2] ** 2 - out[3] ** 2, 1e-300));
  return out.map((v) => v * s); // rounding must not add up over thousands of moves
}

// The motion that takes 0 to (x, y) without turning; with negative signs, (x, y) to 0.
function shift(x, y) {
  const s = 1 / Math.sqrt(Math.max(1 - x * x - y * y, 1e-12));
  return [s, 0, x * s, y * s];
}

// Where the motion takes the points (xs, ys), written to (ox, oy).
function moveAll(m, xs, ys, ox, oy) {
  const [a, b, c, d] = m;
  for (let i = 0; i < xs.length; i++) {
    const x = xs[i], y = ys[i];
    const nr = a * x - b * y + c, ni = a * y + b * x + d;
    const dr = c * x + d * y + a, di = c * y - d * x - b;
    const q = 1 / (dr * dr + di * di);
    ox[i] = (nr * dr + ni * di) * q;
    oy[i] = (ni * dr - nr * di) * q;
  }
}

// The middle of the geodesic from p to q.
function middle(px, py, qx, qy) {
  const nr = qx - px, ni = qy - py, dr = 1 - (px * qx + py * qy), di = -(px * qy - py * qx);
  let q = 1 / (dr * dr + di * di);
  let wx = (nr * dr + ni * di) * q, wy = (ni * dr - nr * di) * q;
  const half = 1 / (1 + Math.sqrt(Math.max(1 - wx * wx - wy * wy, 0)));
  wx *= half; wy *= half;
  const er = 1 + px * wx + py * wy, ei = px * wy - py * wx;
  q = 1 / (er * er + ei * ei);
  const sx = wx + px, sy = wy + py;
  return [(sx * er + sy * ei) * q, (sy * er - sx * ei) * q];
}
