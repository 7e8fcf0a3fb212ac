//! What tasks, timers and messages cost on tokio: the same programs as bench/runtime has on weft.
//!
//!     tokio_runtime spawn_join 1000000
//!
//! Prints one line of JSON: the time of an operation in nanoseconds, as the median of batches, and
//! for the round trip the 50th and 99th percentile of single ones, as the median of runs.

use std::future::{poll_fn, Future};
use std::pin::{pin, Pin};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, Sleep};

const BATCHES: usize = 20;
const RUNS: usize = 5;
const CROWD: usize = 1_000_000;
const LONG: Duration = Duration::from_secs(3600);

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_time().build().expect("a runtime")
}

fn percentile(sorted: &[u64], share: f64) -> u64 {
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}

/// Runs `batch` some times and prints the median time of one of its operations.
fn report(program: &str, count: usize, mut batch: impl FnMut(usize)) {
    let each = (count / BATCHES).max(1);
    batch(each);
    let mut times: Vec<f64> = (0..BATCHES)
        .map(|_| {
            let begin = Instant::now();
            batch(each);
            begin.elapsed().as_nanos() as f64 / each as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{{\"program\":\"{program}\",\"operations\":{},\"ns\":{:.1}}}", each * BATCHES, times[BATCHES / 2]);
}

fn spawn_join(count: usize) {
    let runtime = one_thread();
    report("spawn_join", count, |each| {
        runtime.block_on(async {
            for _ in 0..each {
                tokio::spawn(async {}).await.expect("an empty task");
            }
        })
    });
}

fn cancelled_sleep(count: usize) {
    let runtime = one_thread();
    report("cancelled_sleep", count, |each| {
        runtime.block_on(async {
            for _ in 0..each {
                let sleeping = tokio::spawn(sleep(LONG));
                tokio::task::yield_now().await;
                sleeping.abort();
                assert!(sleeping.await.is_err());
            }
        })
    });
}

/// A timer is armed by its first poll, and cancelled when it is dropped; a million others are armed
/// meanwhile, spread over a day.
fn timer(count: usize) {
    let runtime = one_thread();
    let mut random = 1_u64;
    let mut due = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        LONG + Duration::from_millis((random >> 33) % 86_400_000)
    };
    let mut crowd: Vec<Pin<Box<Sleep>>> = runtime.block_on(async {
        (0..CROWD).map(|_| Box::pin(sleep(due()))).collect()
    });
    runtime.block_on(poll_fn(|context| {
        for each in &mut crowd {
            assert!(each.as_mut().poll(context).is_pending());
        }
        Poll::Ready(())
    }));
    report("timer", count, |each| {
        runtime.block_on(async {
            for _ in 0..each {
                let mut armed = pin!(sleep(due()));
                poll_fn(|context| {
                    assert!(armed.as_mut().poll(context).is_pending());
                    Poll::Ready(())
                })
                .await;
            }
        })
    });
}

/// Of a message to another thread's runtime and the answer, one at a time.
fn round_trips(count: usize) -> Vec<u64> {
    let (send, mut receive) = mpsc::channel::<oneshot::Sender<u64>>(64);
    let far = std::thread::spawn(move || {
        one_thread().block_on(async move {
            let mut answered = 0;
            while let Some(reply) = receive.recv().await {
                answered += 1;
                reply.send(answered).expect("the asker waits");
            }
        })
    });
    let warm_up = count / 10;
    let mut times: Vec<u64> = Vec::with_capacity(warm_up + count);
    one_thread().block_on(async {
        for _ in 0..warm_up + count {
            let begin = Instant::now();
            let (reply, answer) = oneshot::channel();
            send.send(reply).await.expect("the far side runs");
            answer.await.expect("an answer");
            times.push(begin.elapsed().as_nanos() as u64);
        }
    });
    drop(send);
    far.join().expect("the far side ended");
    times.drain(..warm_up);
    times.sort_unstable();
    times
}

fn round_trip(count: usize) {
    let runs: Vec<Vec<u64>> = (0..RUNS).map(|_| round_trips(count)).collect();
    let median = |share: f64| {
        let mut each: Vec<u64> = runs.iter().map(|times| percentile(times, share)).collect();
        each.sort_unstable();
        each[RUNS / 2]
    };
    println!(
        "{{\"program\":\"round_trip\",\"operations\":{count},\"p50_ns\":{},\"p99_ns\":{}}}",
        median(0.5),
        median(0.99)
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let count = arguments.get(2).and_then(|text| text.parse().ok()).unwrap_or(0_usize);
    match (arguments.get(1).map(String::as_str), count) {
        (_, 0) => {}
        (Some("spawn_join"), _) => return spawn_join(count),
        (Some("cancelled_sleep"), _) => return cancelled_sleep(count),
        (Some("timer"), _) => return timer(count),
        (Some("round_trip"), _) => return round_trip(count),
        _ => {}
    }
    eprintln!("usage: runtime spawn_join|cancelled_sleep|timer|round_trip COUNT");
    std::process::exit(2);
}
