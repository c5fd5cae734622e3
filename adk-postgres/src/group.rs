//! [`Groups`]: rows of different sessions that go to the server together, in one statement and
//! therefore with one flush of the server's log.

use crate::Shared;
use crate::error::{closed_error, copy, is_transient};
use crate::log::Head;
use crate::rows::{self, SessionWrite};
use crate::transact::Lost;
use futures_util::future::join;
use std::collections::{HashSet, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tokio::time::timeout;

/// The operation that errors name.
const REACH: &str = "reach the server";

/// Number of members with which a second group is sent while one is on its way, so that the server
/// works on one group while this process makes the other. Fewer members wait until the answer to
/// the first group has come, because a group of a few costs almost as much as a large one.
const SECOND: usize = 16;

/// Maximum number of sessions in a group, so that the last one does not delay the first too long.
const MOST: usize = 128;

/// Number of bytes that ends a group.
const FULL: usize = 256 * 1024;

/// Number of bytes of a session that travel alone, because they would delay other sessions.
const LARGE: usize = 64 * 1024;

/// Time after which a group without an answer does not hold up later groups any more.
const SLOW: Duration = Duration::from_millis(100);

/// Rows that wait for their group, with the sender of the result: the session afterwards, or `None`
/// if the session is not as expected, and nothing was written.
struct Member {
    write: SessionWrite,
    reply: oneshot::Sender<Result<Option<Head>, Lost>>,
}

/// The queue from which groups are formed.
#[derive(Default)]
pub(crate) struct Groups(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    members: VecDeque<Member>,
    /// Whether a task waits for members of the next group.
    is_gathering: bool,
    /// Number of groups on their way.
    sent: usize,
    /// Number of members of the last group.
    last: usize,
}

impl Groups {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a member. Returns whether the caller must send the next group.
    fn add(&self, member: Member) -> bool {
        let mut queue = self.queue();
        queue.members.push_back(member);
        queue.begin_group()
    }

    /// Waits while other tasks that are ready to run add members. A single run never waits here.
    async fn gather(&self) {
        let mut before = 0;
        loop {
            let (now, last) = {
                let queue = self.queue();
                (queue.members.len(), queue.last)
            };
            if now <= before || now >= MOST || now.max(last) == 1 {
                return;
            }
            before = now;
            yield_now().await;
        }
    }
}

impl Queue {
    /// Returns whether the next group begins, with the caller as the one that sends it.
    fn begin_group(&mut self) -> bool {
        let least = match self.sent {
            0 => 1,
            1 => SECOND,
            _ => return false,
        };
        let begins = !self.is_gathering && self.members.len() >= least;
        self.is_gathering |= begins;
        begins
    }

    /// Takes the members of the next group.
    fn take_group(&mut self) -> Vec<Member> {
        let mut bytes = 0;
        let fits = |member: &&Member| {
            let is_first = bytes == 0;
            bytes += member.write.rows.bytes() + 1;
            is_first || bytes <= FULL
        };
        let count = self.members.iter().take(MOST).take_while(fits).count();
        (self.is_gathering, self.last) = (false, count);
        self.sent += 1;
        self.members.drain(..count).collect()
    }
}

impl Shared {
    /// Writes rows of a session, together with rows of other sessions that are written at the same
    /// time. Returns the session afterwards, or `None`, without a write, if the session is not as
    /// expected or is locked.
    pub(crate) async fn write_in_group(
        self: &Arc<Self>,
        write: SessionWrite,
    ) -> Result<Option<Head>, Lost> {
        if write.rows.is_empty() {
            return Ok(Some(write.after));
        }
        let (reply, result) = oneshot::channel();
        let member = Member { write, reply };
        if member.write.rows.bytes() > LARGE {
            Box::pin(self.write_group(vec![member])).await;
        } else if self.groups.add(member) {
            Box::pin(self.send_group()).await;
        }
        let result = result.await;
        result.unwrap_or_else(|_| Err(Lost::sent(closed_error())))
    }

    /// Gathers a group and writes it.
    async fn send_group(self: &Arc<Self>) {
        self.groups.gather().await;
        let group = {
            let mut queue = self.groups.queue();
            let group = queue.take_group();
            self.begin_group(&mut queue);
            group
        };
        let mut writing = pin!(self.write_group(group));
        let is_slow = timeout(SLOW, &mut writing).await.is_err();
        {
            let mut queue = self.groups.queue();
            queue.sent -= 1;
            self.begin_group(&mut queue);
        }
        if is_slow {
            writing.await;
        }
    }

    /// Begins the next group in a task of its own, if there are members for it.
    fn begin_group(self: &Arc<Self>, queue: &mut Queue) {
        if queue.begin_group() {
            let this = self.clone();
            self.runtime.spawn(async move { this.send_group().await });
        }
    }

    /// Writes a group, and reports the result of each member. Events and steps are written by
    /// different statements, at the same time.
    async fn write_group(&self, members: Vec<Member>) {
        let is_step = |member: &Member| member.write.rows.is_step();
        let (steps, events) = members.into_iter().partition(is_step);
        join(self.write_part(events), self.write_part(steps)).await;
    }

    /// Writes the members of a group that need the same statement. If a member makes the statement
    /// fail, the members are divided until this one is alone.
    async fn write_part(&self, members: Vec<Member>) {
        let mut parts = vec![members];
        while let Some(mut members) = parts.pop().filter(|members| !members.is_empty()) {
            let lost = match self.write_members(&members).await {
                Ok(written) => {
                    for Member { write, reply } in members {
                        let is_written = written.contains(&write.before.number);
                        let _ = reply.send(Ok(is_written.then_some(write.after)));
                    }
                    continue;
                }
                Err(lost) => lost,
            };
            if members.len() > 1 && !is_transient(&lost.error) {
                let second = members.split_off(members.len() / 2);
                parts.extend([second, members]);
                continue;
            }
            let last = members.pop();
            for Member { reply, .. } in members {
                let (error, is_sent) = (copy(&lost.error), lost.is_sent);
                let _ = reply.send(Err(Lost { error, is_sent }));
            }
            // Only the error of a single member is final, and this one keeps its source.
            let _ = last.map(|member| member.reply.send(Err(lost)));
        }
    }

    /// Writes a group by one statement. Returns the numbers of the sessions that were written.
    async fn write_members(&self, members: &[Member]) -> Result<HashSet<i64>, Lost> {
        let mut connection = self.connections.get(REACH).await?;
        let writes: Vec<_> = members.iter().map(|member| &member.write).collect();
        let written = rows::write(&mut connection, &writes).await;
        self.connections.put_back(connection).await;
        written.map_err(|error| Lost::sent(writes[0].failed_to_write(error)))
    }
}
