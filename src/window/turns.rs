//! Turns of visitors. A page is read and rendered in a turn, and nothing is read before it. So what all visitors
//! together keep busy and in memory has a limit, and one of them keeps no other one waiting for long.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{sync::oneshot, time::timeout};

use crate::{domain::client::ClientAddress, store::StoreError};

/// The maximum number of requests that wait for a turn.
const MAX_WAITING: usize = 512;

/// The maximum number of requests of one address that wait.
const MAX_WAITING_OF_ADDRESS: usize = 32;

/// The maximum number of requests that wait without an address of their own, because many clients share theirs.
const MAX_WAITING_OF_SHARED_ADDRESS: usize = MAX_WAITING / 2;

/// The longest wait for a turn.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Gives a few turns at once: to each address that waits in turn, and to the requests of one address in their order. Of
/// IPv6, the addresses of a site are one ([`ClientAddress::site`]).
pub(super) struct Turns {
    at_once: usize,
    state: Mutex<State>,
}

/// A turn, which lasts until it is dropped.
pub(super) struct Turn {
    turns: Arc<Turns>,
}

#[derive(Default)]
struct State {
    /// The number of turns that last.
    taken: usize,
    /// The addresses that wait. The first one gets the next turn.
    queues: VecDeque<Queue>,
}

/// The requests of an address that wait, the oldest first. It is never empty.
struct Queue {
    address: Option<ClientAddress>,
    requests: VecDeque<oneshot::Sender<Turn>>,
}

impl Turns {
    pub(super) fn new(at_once: usize) -> Arc<Self> {
        Arc::new(Self { at_once, state: Mutex::default() })
    }

    /// Waits for a turn of this address. Fails with [`StoreError::Overloaded`] if too many wait, or after [`LONGEST_WAIT`].
    pub(super) async fn take(
        self: &Arc<Self>,
        address: Option<ClientAddress>,
    ) -> Result<Turn, StoreError> {
        let call = {
            let mut state = self.state.lock();
            if state.taken < self.at_once {
                state.taken += 1;
                return Ok(Turn { turns: Arc::clone(self) });
            }
            state.wait(address.map(ClientAddress::site)).ok_or(StoreError::Overloaded)?
        };
        match timeout(LONGEST_WAIT, call).await {
            Ok(Ok(turn)) => Ok(turn),
            // Another address took the place, or it was too long.
            Ok(Err(_)) | Err(_) => Err(StoreError::Overloaded),
        }
    }
}

impl State {
    /// Adds a request to the queue of its address. `None` if too many wait.
    fn wait(&mut self, address: Option<ClientAddress>) -> Option<oneshot::Receiver<Turn>> {
        self.forget_abandoned();
        let most = match address {
            Some(_) => MAX_WAITING_OF_ADDRESS,
            None => MAX_WAITING_OF_SHARED_ADDRESS,
        };
        let own = self.queues.iter().position(|queue| queue.address == address);
        let own_length = own.map_or(0, |index| self.queues[index].requests.len());
        if own_length >= most {
            return None;
        }
        if self.waiting() >= MAX_WAITING && !self.displace(own_length) {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        // The other queues are where they were, because none was removed: each longer one has a request left.
        match own {
            Some(index) => self.queues[index].requests.push_back(sender),
            None => self.queues.push_back(Queue { address, requests: [sender].into() }),
        }
        Some(receiver)
    }

    /// Takes the place of the last request of the address that has the most, if it has at least two more than
    /// `own_length`. Returns whether it did.
    fn displace(&mut self, own_length: usize) -> bool {
        let longest = self.queues.iter_mut().max_by_key(|queue| queue.requests.len());
        match longest {
            Some(queue) if queue.requests.len() > own_length + 1 => {
                queue.requests.pop_back();
                true
            }
            _ => false,
        }
    }

    fn waiting(&self) -> usize {
        self.queues.iter().map(|queue| queue.requests.len()).sum()
    }

    /// Removes the requests whose clients have left.
    fn forget_abandoned(&mut self) {
        for queue in &mut self.queues {
            queue.requests.retain(|request| !request.is_closed());
        }
        self.queues.retain(|queue| !queue.requests.is_empty());
    }

    /// Removes the request that gets the next turn. Without one, a turn has ended.
    fn next(&mut self) -> Option<oneshot::Sender<Turn>> {
        self.forget_abandoned();
        let Some(mut queue) = self.queues.pop_front() else {
            self.taken -= 1;
            return None;
        };
        let request = queue.requests.pop_front();
        if !queue.requests.is_empty() {
            self.queues.push_back(queue);
        }
        request
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let next = self.turns.state.lock().next();
        if let Some(request) = next {
            // If its client has just left, the turn is dropped here, and passes on.
            drop(request.send(Self { turns: Arc::clone(&self.turns) }));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{net::IpAddr, task::Poll};

    use futures_util::{FutureExt, future::BoxFuture, poll};

    use super::*;

    type Waiting = BoxFuture<'static, Result<Turn, StoreError>>;

    /// An address with this number.
    fn address(number: usize) -> ClientAddress {
        let [.., high, low] = number.to_be_bytes();
        IpAddr::from([192, 0, high, low]).into()
    }

    /// A request that waits, and has been polled.
    async fn wait(turns: &Arc<Turns>, address: ClientAddress) -> Waiting {
        let turns = Arc::clone(turns);
        let mut waiting = async move { turns.take(Some(address)).await }.boxed();
        assert!(poll!(&mut waiting).is_pending());
        waiting
    }

    async fn is_refused(turns: &Arc<Turns>, address: ClientAddress) -> bool {
        let mut waiting = Box::pin(turns.take(Some(address)));
        matches!(poll!(&mut waiting), Poll::Ready(Err(_)))
    }

    #[tokio::test]
    async fn an_address_with_many_requests_has_one_turn_before_another_address() {
        let turns = Turns::new(1);
        let turn = turns.take(Some(address(1))).await.unwrap();
        let mut many = Vec::new();
        for _ in 0..9 {
            many.push(wait(&turns, address(1)).await);
        }
        let mut newcomer = wait(&turns, address(2)).await;
        drop(turn);
        let Poll::Ready(Ok(first)) = poll!(&mut many[0]) else { panic!() };
        assert!(poll!(&mut newcomer).is_pending());
        drop(first);
        let Poll::Ready(Ok(second)) = poll!(&mut newcomer) else { panic!() };
        assert!(poll!(&mut many[1]).is_pending());
        drop(second);
        assert!(matches!(poll!(&mut many[1]), Poll::Ready(Ok(_))));
    }

    #[tokio::test]
    async fn an_address_may_wait_with_few_requests_and_the_queue_is_bounded() {
        let turns = Turns::new(1);
        let _turn = turns.take(Some(address(1))).await.unwrap();
        let mut waiting = Vec::new();
        for number in 0..MAX_WAITING / MAX_WAITING_OF_ADDRESS {
            for _ in 0..MAX_WAITING_OF_ADDRESS {
                waiting.push(wait(&turns, address(number)).await);
            }
            assert!(is_refused(&turns, address(number)).await);
        }
        // A newcomer takes the last place of an address that has the most.
        let _newcomer = wait(&turns, address(1_000)).await;
        assert_eq!(turns.state.lock().waiting(), MAX_WAITING);
        let mut displaced = 0;
        for request in &mut waiting {
            displaced += usize::from(matches!(poll!(request), Poll::Ready(Err(_))));
        }
        assert_eq!(displaced, 1);
    }

    #[tokio::test]
    async fn an_address_that_has_nothing_waits_until_each_of_the_others_has_one_request() {
        let turns = Turns::new(1);
        let _turn = turns.take(Some(address(0))).await.unwrap();
        let mut waiting = Vec::new();
        for number in 0..MAX_WAITING {
            waiting.push(wait(&turns, address(number)).await);
        }
        assert!(is_refused(&turns, address(MAX_WAITING)).await);
    }

    #[tokio::test]
    async fn a_client_that_leaves_takes_no_turn_with_it() {
        let turns = Turns::new(1);
        let turn = turns.take(Some(address(1))).await.unwrap();
        let [before, called] = [wait(&turns, address(2)).await, wait(&turns, address(3)).await];
        let mut last = wait(&turns, address(4)).await;
        drop(before);
        // The turn is on its way to the second one, which leaves as well.
        drop(turn);
        drop(called);
        assert!(matches!(poll!(&mut last), Poll::Ready(Ok(_))));
        assert_eq!(turns.state.lock().taken, 0);
        assert!(turns.take(Some(address(5))).await.is_ok());
    }
}
