//! Crowds that wait for turns.

use std::{
    collections::VecDeque,
    net::IpAddr,
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

use futures_util::{FutureExt, future::BoxFuture, poll};
use jiff::Timestamp;
use parking_lot::Mutex;
use petstore_domain::{Clock, StaffId, SystemClock};
use tokio::task::unconstrained;

use super::{Caller, NoTurn, Turn, TurnLimits, Turns, served::MAX_CALLERS};

/// The limits of most tests: one turn at a time.
const LIMITS: TurnLimits = TurnLimits {
    turns: 1,
    turns_of_known: 0,
    turns_of_caller: 1,
    waiting: 512,
    waiting_of_caller: 32,
    waiting_of_shared: 256,
    wait: Duration::from_mins(1),
    memory: Duration::from_secs(30),
};

/// The limits of the requests to the identity provider, with fewer turns.
const PROVIDER: TurnLimits = TurnLimits {
    turns: 6,
    turns_of_known: 2,
    turns_of_caller: 2,
    waiting: 256,
    ..LIMITS
};

/// A request that waits for a turn.
type Waiting = BoxFuture<'static, Result<Turn, NoTurn>>;

/// A clock that moves when a test moves it.
struct TestClock(Mutex<Instant>);

impl TestClock {
    fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(SystemClock.instant())))
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    fn instant(&self) -> Instant {
        *self.0.lock()
    }
}

fn new_turns(limits: TurnLimits) -> Arc<Turns> {
    Turns::new(limits, TestClock::new())
}

/// Returns the stranger with this number.
fn stranger(number: usize) -> Caller {
    let [.., high, low] = number.to_be_bytes();
    Caller::Stranger(IpAddr::from([192, 0, high, low]).into())
}

fn member(id: i64) -> Caller {
    Caller::Known(StaffId(id))
}

/// Starts a request that must wait, and returns its future, which was polled once. It is
/// unconstrained, because tokio otherwise lets a task make only 128 steps in a row.
async fn wait(turns: &Arc<Turns>, caller: Caller) -> Waiting {
    let turns = Arc::clone(turns);
    let mut waiting = unconstrained(async move { turns.take(caller).await }).boxed();
    assert!(poll!(&mut waiting).is_pending());
    waiting
}

async fn is_refused(turns: &Arc<Turns>, caller: Caller) -> bool {
    let mut waiting = Box::pin(turns.take(caller));
    matches!(poll!(&mut waiting), Poll::Ready(Err(NoTurn::Full)))
}

/// Returns the turn of a request, which must have begun.
async fn begun_turn(waiting: &mut Waiting) -> Turn {
    let Poll::Ready(Ok(turn)) = poll!(waiting) else {
        panic!("the request has no turn")
    };
    turn
}

/// Removes the first request whose turn has begun, and returns its turn.
async fn remove_begun(waiting: &mut Vec<Waiting>) -> Turn {
    for index in 0..waiting.len() {
        if let Poll::Ready(result) = poll!(&mut waiting[index]) {
            drop(waiting.remove(index));
            return result.unwrap();
        }
    }
    panic!("no request has a turn")
}

#[tokio::test]
async fn a_newcomer_is_served_before_512_addresses_that_come_back_after_a_turn() {
    let turns = new_turns(LIMITS);
    let mut last = turns.take(stranger(0)).await.unwrap();
    let mut waiting = Vec::new();
    for number in 1..=512 {
        waiting.push(wait(&turns, stranger(number)).await);
    }
    // After its turn, each address immediately sends another request.
    let mut further_requests = Vec::new();
    for (index, mut request) in waiting.into_iter().enumerate() {
        drop(last);
        last = begun_turn(&mut request).await;
        further_requests.push(wait(&turns, stranger(index)).await);
    }
    assert_eq!(turns.queues.lock().count_waiting(), 512);

    let mut newcomer = wait(&turns, stranger(1_000)).await;
    assert_eq!(turns.queues.lock().count_waiting(), 512);
    drop(last);
    drop(begun_turn(&mut newcomer).await);
    let mut displaced = 0;
    for request in &mut further_requests {
        displaced += usize::from(matches!(poll!(request), Poll::Ready(Err(NoTurn::Full))));
    }
    assert_eq!(displaced, 1);
}

#[tokio::test]
async fn a_newcomer_is_served_before_11_addresses_that_hold_two_turns_each_at_the_provider() {
    /// The number of addresses that together take all turns.
    const FIRST: usize = PROVIDER.turns / PROVIDER.turns_of_caller;
    const ADDRESSES: usize = 11;

    let turns = new_turns(PROVIDER);
    let mut held = VecDeque::new();
    for number in 0..FIRST {
        for _ in 0..PROVIDER.turns_of_caller {
            held.push_back(turns.take(stranger(number)).await.unwrap());
        }
    }
    let mut waiting = Vec::new();
    for number in FIRST..ADDRESSES {
        waiting.push(wait(&turns, stranger(number)).await);
        waiting.push(wait(&turns, stranger(number)).await);
    }
    for number in 0..FIRST {
        waiting.push(wait(&turns, stranger(number)).await);
    }
    // Whenever a turn ends, one of the waiting addresses has its first turn.
    for _ in FIRST..ADDRESSES {
        drop(held.pop_front());
        held.push_back(remove_begun(&mut waiting).await);
    }
    for number in FIRST..ADDRESSES {
        waiting.push(wait(&turns, stranger(number)).await);
    }

    // Now all addresses have been served, and wait with another request.
    let mut newcomer = wait(&turns, stranger(ADDRESSES)).await;
    drop(held.pop_front());
    drop(begun_turn(&mut newcomer).await);
}

#[tokio::test]
async fn an_address_with_many_requests_comes_after_one_that_was_served_less() {
    let turns = new_turns(LIMITS);
    let turn = turns.take(stranger(1)).await.unwrap();
    let mut many = Vec::new();
    for _ in 0..9 {
        many.push(wait(&turns, stranger(1)).await);
    }
    let mut newcomer = wait(&turns, stranger(2)).await;
    let mut second = wait(&turns, stranger(2)).await;
    drop(turn);
    drop(begun_turn(&mut newcomer).await);
    // Now both addresses were served once, and the first one has waited for longer.
    drop(begun_turn(&mut many[0]).await);
    drop(begun_turn(&mut second).await);
    drop(begun_turn(&mut many[1]).await);
}

#[tokio::test]
async fn without_memory_the_callers_have_one_turn_each_in_their_order() {
    let turns = new_turns(TurnLimits {
        memory: Duration::ZERO,
        ..LIMITS
    });
    drop(turns.take(stranger(1)).await);
    let turn = turns.take(stranger(3)).await.unwrap();
    let mut first = wait(&turns, stranger(1)).await;
    let mut second = wait(&turns, stranger(1)).await;
    let mut newcomer = wait(&turns, stranger(2)).await;
    drop(turn);
    drop(begun_turn(&mut first).await);
    drop(begun_turn(&mut newcomer).await);
    drop(begun_turn(&mut second).await);
}

#[tokio::test]
async fn an_address_may_wait_with_few_requests_and_the_queue_is_bounded() {
    let turns = new_turns(LIMITS);
    let _turn = turns.take(stranger(1_000)).await.unwrap();
    let mut waiting = Vec::new();
    for number in 0..LIMITS.waiting / LIMITS.waiting_of_caller {
        for _ in 0..LIMITS.waiting_of_caller {
            waiting.push(wait(&turns, stranger(number)).await);
        }
        assert!(is_refused(&turns, stranger(number)).await);
    }
    // A newcomer takes the place of the last request of an address with the longest queue.
    let _newcomer = wait(&turns, stranger(1_001)).await;
    assert_eq!(turns.queues.lock().count_waiting(), LIMITS.waiting);
    let mut displaced = 0;
    for request in &mut waiting {
        displaced += usize::from(matches!(poll!(request), Poll::Ready(Err(_))));
    }
    assert_eq!(displaced, 1);
}

#[tokio::test]
async fn newcomers_in_equal_number_take_no_place_from_each_other() {
    let turns = new_turns(LIMITS);
    let _turn = turns.take(stranger(1_000)).await.unwrap();
    let mut waiting = Vec::new();
    for number in 0..LIMITS.waiting {
        waiting.push(wait(&turns, stranger(number)).await);
    }
    assert!(is_refused(&turns, stranger(LIMITS.waiting)).await);
    // Known browsers have places of their own.
    let _known = wait(&turns, member(1)).await;
}

#[tokio::test]
async fn a_turn_counts_for_a_minute_at_most_and_the_numbers_of_callers_are_bounded() {
    let clock = TestClock::new();
    let turns = Turns::new(LIMITS, Arc::<TestClock>::clone(&clock));
    for number in 0..40_000 {
        drop(turns.take(stranger(number)).await);
    }
    let served = |caller| turns.queues.lock().count_served(caller);
    assert_eq!(served(stranger(39_999)), 1);
    assert_eq!(served(stranger(40_000 - 2 * MAX_CALLERS - 1)), 0);
    *clock.0.lock() += Duration::from_mins(1);
    drop(turns.take(stranger(1)).await);
    assert_eq!(served(stranger(39_999)), 0);
    assert_eq!(served(stranger(1)), 1);
}

#[tokio::test]
async fn a_caller_has_two_turns_at_once_and_others_do_not_wait_for_it() {
    let turns = new_turns(PROVIDER);
    let _first = turns.take(stranger(1)).await.unwrap();
    let second = turns.take(stranger(1)).await.unwrap();
    let mut third = wait(&turns, stranger(1)).await;
    assert!(turns.take(stranger(2)).await.is_ok());
    drop(second);
    drop(begun_turn(&mut third).await);
}

#[tokio::test]
async fn strangers_at_many_addresses_leave_turns_to_known_browsers() {
    let turns = new_turns(PROVIDER);
    let mut held = Vec::new();
    for number in 0..6 {
        held.push(turns.take(stranger(number)).await.unwrap());
    }
    let mut next = wait(&turns, stranger(6)).await;
    for id in 1..=2 {
        held.push(turns.take(member(id)).await.unwrap());
    }
    let mut third = wait(&turns, member(3)).await;
    // A turn of known browsers goes to one of them.
    held.pop();
    assert!(poll!(&mut next).is_pending());
    held.push(begun_turn(&mut third).await);
    drop(held);
    drop(begun_turn(&mut next).await);
    assert_eq!(turns.queues.lock().count_in_progress(), 0);
}

#[tokio::test]
async fn a_client_that_leaves_takes_no_turn_with_it() {
    let turns = new_turns(LIMITS);
    let turn = turns.take(stranger(1)).await.unwrap();
    let first = wait(&turns, stranger(2)).await;
    let second = wait(&turns, stranger(3)).await;
    let mut third = wait(&turns, stranger(4)).await;
    drop(first);
    // The turn is sent to the second request, whose client disconnects before it receives the turn.
    drop(turn);
    drop(second);
    drop(begun_turn(&mut third).await);
    assert_eq!(turns.queues.lock().count_in_progress(), 0);
    assert!(turns.take(stranger(5)).await.is_ok());
}

#[tokio::test]
async fn a_request_that_waits_for_too_long_leaves_nothing() {
    let turns = new_turns(TurnLimits {
        wait: Duration::from_millis(1),
        ..LIMITS
    });
    let turn = turns.take(stranger(1)).await.unwrap();
    assert_eq!(turns.take(stranger(2)).await.err(), Some(NoTurn::Late));
    drop(turn);
    assert!(turns.take(stranger(3)).await.is_ok());
    assert_eq!(turns.queues.lock().count_waiting(), 0);
}
